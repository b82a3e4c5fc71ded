//! Methods in configurations.

use sluicegate_core::{InvalidConfig, closest};

/// The methods registered with IANA: those of RFC 9110, RFC 5789 and the `WebDAV` family.
pub(crate) const REGISTERED: [&str; 39] = [
    "ACL",
    "BASELINE-CONTROL",
    "BIND",
    "CHECKIN",
    "CHECKOUT",
    "CONNECT",
    "COPY",
    "DELETE",
    "GET",
    "HEAD",
    "LABEL",
    "LINK",
    "LOCK",
    "MERGE",
    "MKACTIVITY",
    "MKCALENDAR",
    "MKCOL",
    "MKREDIRECTREF",
    "MKWORKSPACE",
    "MOVE",
    "OPTIONS",
    "ORDERPATCH",
    "PATCH",
    "POST",
    "PRI",
    "PROPFIND",
    "PROPPATCH",
    "PUT",
    "REBIND",
    "REPORT",
    "SEARCH",
    "TRACE",
    "UNBIND",
    "UNCHECKOUT",
    "UNLINK",
    "UNLOCK",
    "UPDATE",
    "UPDATEREDIRECTREF",
    "VERSION-CONTROL",
];

/// Refuses what is no method, and what looks like a slip: methods are case-sensitive.
///
/// # Errors
/// See there.
pub(crate) fn check(name: &str, pointer: &str) -> Result<(), InvalidConfig> {
    let is_token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    let upper = name.to_ascii_uppercase();
    let known = REGISTERED.contains(&upper.as_str());
    if name.is_empty() || !name.bytes().all(is_token) || (known && name != upper) {
        let message = format!("`{}` is not a method", name.escape_debug());
        return Err(InvalidConfig::new(pointer, message)
            .expecting("a method such as GET; upper and lower case differ")
            .suggesting(closest(&upper, REGISTERED)));
    }
    Ok(())
}
