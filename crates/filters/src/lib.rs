//! The built-in filters and the chains made of them.
//!
//! To add a filter: write its file, then add its `mod` line and its row here.

mod chain;
mod chains;
mod config_schema;
mod field_value;
mod header_name;
mod media_type;
mod method;
mod name_set;
mod network_set;
mod normal_path;
mod secrets;
mod state;
mod table;
mod template;
#[doc(hidden)]
pub mod testing;

mod address_list;
mod client_address;
mod cors;
mod debug_headers;
mod denylist;
mod forwarded_headers;
mod header_hygiene;
mod header_rewrite;
mod host_rewrite;
mod path_rewrite;
mod query_rewrite;
mod request_id;
mod security_headers;
mod trace_context;
mod validate;

pub use chain::{Chain, FilterSpec, Link};
pub use chains::Chains;
pub use config_schema::ConfigSchema;
pub use field_value::FieldValue;
pub use secrets::Secrets;
pub use state::States;
pub use table::{Place, Row, Table, link, no_carry};
pub use template::{BadTemplate, BodyText, Location, Template};

table::filters! {
    request_id::RequestId,
    trace_context::TraceContextFilter,
    client_address::ClientAddress,
    header_hygiene::HeaderHygiene,
    forwarded_headers::ForwardedHeaders,
    debug_headers::DebugHeaders,
    address_list::AddressList,
    denylist::Denylist,
    header_rewrite::HeaderRewrite,
    path_rewrite::PathRewrite,
    query_rewrite::QueryRewrite,
    host_rewrite::HostRewrite,
    validate::Validate,
    cors::Cors,
    security_headers::SecurityHeaders,
}
