//! HTTP/2 at both edges: streams become exchanges like any other, heads are converted once.

mod connection;
mod head;
mod io;
mod preface;
mod stream;

pub(crate) use self::{
    connection::{Origin, serve},
    head::{from_fields, request_for, response_for, take_response},
    io::Io,
    preface::{Preface, look},
    stream::{Head, Stream},
};
