//! A request head as the router sees it.

use sluicegate_http1::RequestHead;
use sluicegate_router::Subject;

/// Reads a head in place; nothing is copied.
pub(crate) struct HeadSubject<'a>(pub(crate) &'a RequestHead);

impl Subject for HeadSubject<'_> {
    fn host(&self) -> Option<&str> {
        self.0.authority()
    }

    fn path(&self) -> &str {
        self.0.path()
    }

    fn method(&self) -> &str {
        self.0.method()
    }

    fn query(&self) -> Option<&str> {
        self.0.query()
    }

    fn header_values(&self, name: &str, each: &mut dyn FnMut(&[u8])) {
        self.0.fields.get_all(name).for_each(each);
    }
}
