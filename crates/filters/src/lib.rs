//! The built-in filters and the chains made of them.
//!
//! To add a filter: write its file, then add its `mod` line and its row here.

mod chain;
mod chains;
mod config_schema;
mod field_value;
mod header_name;
mod name_set;
mod network_set;
mod normal_path;
mod secrets;
mod state;
mod table;
#[doc(hidden)]
pub mod testing;

mod address_list;
mod client_address;
mod debug_headers;
mod forwarded_headers;
mod header_hygiene;
mod header_rewrite;
mod path_rewrite;
mod request_id;
mod trace_context;

pub use chain::{Chain, FilterSpec, Link};
pub use chains::Chains;
pub use config_schema::ConfigSchema;
pub use secrets::Secrets;
pub use state::States;
pub use table::{Place, Row, Table, link, no_carry};

table::filters! {
    request_id::RequestId,
    trace_context::TraceContextFilter,
    client_address::ClientAddress,
    header_hygiene::HeaderHygiene,
    forwarded_headers::ForwardedHeaders,
    debug_headers::DebugHeaders,
    address_list::AddressList,
    header_rewrite::HeaderRewrite,
    path_rewrite::PathRewrite,
}
