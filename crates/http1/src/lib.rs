//! Strict HTTP/1.1 without I/O: bytes in, heads and body pieces out, for both roles.
#![allow(unused_variables, clippy::todo, clippy::missing_errors_doc, missing_docs, reason = "signatures first")]

use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadLimits {
    pub bytes: usize,
    pub fields: usize,
    pub target: usize,
}
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Version {
    Http10,
    #[default]
    Http11,
}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(u8);
impl Malformed {
    pub fn reason(&self) -> &'static str {
        todo!()
    }
    pub fn status(&self) -> u16 {
        todo!()
    }
}
impl std::fmt::Display for Malformed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.reason())
    }
}
impl std::error::Error for Malformed {}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidField;
impl std::fmt::Display for InvalidField {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a forbidden byte")
    }
}
impl std::error::Error for InvalidField {}

#[derive(Default, Clone, Debug)]
pub struct Fields {
    bytes: Vec<u8>,
}
impl Fields {
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        todo!()
    }
    pub fn get_str(&self, name: &str) -> Option<&str> {
        todo!()
    }
    pub fn get_all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        std::iter::empty()
    }
    pub fn count(&self, name: &str) -> usize {
        todo!()
    }
    pub fn contains(&self, name: &str) -> bool {
        todo!()
    }
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        std::iter::empty()
    }
    pub fn len(&self) -> usize {
        todo!()
    }
    pub fn is_empty(&self) -> bool {
        todo!()
    }
    pub fn set(&mut self, name: &str, value: &[u8]) -> Result<(), InvalidField> {
        todo!()
    }
    pub fn append(&mut self, name: &str, value: &[u8]) -> Result<(), InvalidField> {
        todo!()
    }
    pub fn remove(&mut self, name: &str) -> bool {
        todo!()
    }
    pub fn remove_where(&mut self, matches: impl FnMut(&[u8]) -> bool) {
        todo!()
    }
    pub fn clear(&mut self) {
        todo!()
    }
}

#[derive(Default, Clone, Debug)]
pub struct RequestHead {
    pub fields: Fields,
    line: String,
}
impl RequestHead {
    pub fn build(method: &str, target: &str, version: Version) -> Result<Self, InvalidField> {
        todo!()
    }
    pub fn method(&self) -> &str {
        todo!()
    }
    pub fn target(&self) -> &str {
        todo!()
    }
    pub fn path(&self) -> &str {
        todo!()
    }
    pub fn query(&self) -> Option<&str> {
        todo!()
    }
    pub fn version(&self) -> Version {
        todo!()
    }
    pub fn authority(&self) -> Option<&str> {
        todo!()
    }
    pub fn original_target(&self) -> &str {
        todo!()
    }
    pub fn set_path(&mut self, path: &str) -> Result<(), InvalidField> {
        todo!()
    }
    pub fn set_query(&mut self, query: Option<&str>) -> Result<(), InvalidField> {
        todo!()
    }
    pub fn set_method(&mut self, method: &str) -> Result<(), InvalidField> {
        todo!()
    }
}

#[derive(Default, Clone, Debug)]
pub struct ResponseHead {
    pub fields: Fields,
    status: u16,
    reason: Vec<u8>,
    version: Version,
}
impl ResponseHead {
    pub fn new(status: u16) -> Self {
        todo!()
    }
    pub fn reset(&mut self, status: u16) {
        todo!()
    }
    pub fn status(&self) -> u16 {
        self.status
    }
    pub fn set_status(&mut self, status: u16) {
        todo!()
    }
    pub fn reason(&self) -> &[u8] {
        &self.reason
    }
    pub fn version(&self) -> Version {
        self.version
    }
}

pub fn parse_request(input: &[u8], limits: &HeadLimits, head: &mut RequestHead) -> Result<Option<usize>, Malformed> {
    todo!()
}
pub fn parse_response(input: &[u8], limits: &HeadLimits, head: &mut ResponseHead) -> Result<Option<usize>, Malformed> {
    todo!()
}
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Framing {
    Empty,
    Length(u64),
    Chunked,
    UntilClose,
}
pub fn request_framing(head: &RequestHead) -> Result<Framing, Malformed> {
    todo!()
}
pub fn response_framing(head: &ResponseHead, request_method: &str) -> Result<Framing, Malformed> {
    todo!()
}
pub fn request_keep_alive(head: &RequestHead) -> bool {
    todo!()
}
pub fn response_keep_alive(head: &ResponseHead) -> bool {
    todo!()
}
pub fn strip_hop_by_hop(fields: &mut Fields) {
    todo!()
}
pub fn expects_continue(head: &RequestHead) -> Result<bool, Malformed> {
    todo!()
}
pub fn accepts_trailers(head: &RequestHead) -> bool {
    todo!()
}
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    pub consumed: usize,
    pub data: Range<usize>,
    pub done: bool,
}
#[derive(Debug)]
pub struct BodyDecoder {
    trailers: Fields,
}
impl BodyDecoder {
    pub fn new(framing: Framing) -> Self {
        todo!()
    }
    pub fn reset(&mut self, framing: Framing) {
        todo!()
    }
    pub fn decode(&mut self, input: &[u8]) -> Result<Decoded, Malformed> {
        todo!()
    }
    pub fn is_done(&self) -> bool {
        todo!()
    }
    pub fn finish(&mut self) -> Result<(), Malformed> {
        todo!()
    }
    pub fn trailers(&self) -> &Fields {
        &self.trailers
    }
    pub fn trailers_mut(&mut self) -> &mut Fields {
        &mut self.trailers
    }
    pub fn remaining(&self) -> Option<u64> {
        todo!()
    }
}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Persistence {
    KeepAlive,
    Close,
    KeepAliveHttp10,
}
pub fn write_request(head: &RequestHead, framing: Framing, out: &mut Vec<u8>) {
    todo!()
}
pub fn write_response(head: &ResponseHead, framing: Framing, persistence: Persistence, out: &mut Vec<u8>) {
    todo!()
}
pub fn write_chunk(data: &[u8], out: &mut Vec<u8>) {
    todo!()
}
pub fn write_chunk_head(len: usize, out: &mut Vec<u8>) {
    todo!()
}
pub fn write_last_chunk(trailers: Option<&Fields>, out: &mut Vec<u8>) {
    todo!()
}
pub fn valid_authority(authority: &str) -> bool {
    todo!()
}
pub fn host_and_port(authority: &str) -> Option<(&str, Option<u16>)> {
    todo!()
}
