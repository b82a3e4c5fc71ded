//! A request head as the router sees it.

use sluicegate_http1::RequestHead;
use sluicegate_router::Subject;

/// Reads a head in place; nothing is copied.
pub(crate) struct HeadSubject<'a> {
    head: &'a RequestHead,
    method: &'a str,
}

impl<'a> HeadSubject<'a> {
    pub(crate) fn new(head: &'a RequestHead) -> Self {
        Self {
            head,
            method: head.method(),
        }
    }

    /// The request that `head` asks about: the same with another method.
    pub(crate) fn asking(head: &'a RequestHead, method: &'a str) -> Self {
        Self { head, method }
    }
}

impl Subject for HeadSubject<'_> {
    fn host(&self) -> Option<&str> {
        self.head.authority()
    }

    fn path(&self) -> &str {
        self.head.path()
    }

    fn method(&self) -> &str {
        self.method
    }

    fn query(&self) -> Option<&str> {
        self.head.query()
    }

    fn header_values(&self, name: &str, each: &mut dyn FnMut(&[u8])) {
        self.head.fields.get_all(name).for_each(each);
    }
}
