//! Fields that concern one connection and end there (RFC 9110 section 7.6.1).

use crate::fields::Fields;
use crate::known::KnownSet;

/// Removes `Connection`, the fields it names, and those known to be hop-by-hop, `TE`,
/// `Transfer-Encoding` and `Upgrade` among them; `Trailer` stays.
///
/// `Content-Length` and `Host` stay even if a sender names them. Fields that the gateway adds
/// itself must be added afterwards, or a client could have them taken away.
pub fn strip_hop_by_hop(fields: &mut Fields) {
    if !fields.seen().meets(KnownSet::HOP_BY_HOP) {
        return;
    }
    fields.mark_nominated();
    fields.retain(|_, known| !known.is_hop_by_hop());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(of: &[(&str, &str)]) -> Fields {
        let mut fields = Fields::default();
        for (name, value) in of {
            fields.append(name, value.as_bytes()).unwrap();
        }
        fields
    }

    fn names(fields: &Fields) -> Vec<String> {
        fields
            .iter()
            .map(|(name, _)| String::from_utf8(name.to_vec()).unwrap())
            .collect()
    }

    // case: HD-01
    #[test]
    fn what_the_client_names_goes_in_any_case_and_from_every_line() {
        let mut fields = fields(&[
            ("Host", "a.test"),
            ("x-forwarded-for", "1.2.3.4"),
            ("Connection", "close, X-Forwarded-For"),
            ("X-User-Id", "7"),
            ("X-USER-ID", "8"),
            ("Accept", "*/*"),
            ("connection", ",x-user-id,, Host, Content-Length"),
            ("Content-Length", "3"),
        ]);

        strip_hop_by_hop(&mut fields);

        assert_eq!(names(&fields), ["Host", "Accept", "Content-Length"]);
    }

    #[test]
    fn the_known_ones_go_unnamed() {
        let mut fields = fields(&[
            ("Keep-Alive", "timeout=5"),
            ("Proxy-Connection", "close"),
            ("TE", "trailers"),
            ("Trailer", "X-Sum"),
            ("Transfer-Encoding", "chunked"),
            ("Upgrade", "websocket"),
            ("Proxy-Authenticate", "Basic"),
            ("Proxy-Authorization", "Basic x"),
            ("Date", "x"),
        ]);

        strip_hop_by_hop(&mut fields);

        assert_eq!(names(&fields), ["Trailer", "Date"]);
    }

    #[test]
    fn a_connection_field_that_names_itself_hides_no_other() {
        let mut fields = fields(&[
            ("Connection", "connection, keep-alive"),
            ("Connection", "x-a"),
            ("X-A", "1"),
            ("Keep-Alive", "x"),
        ]);

        strip_hop_by_hop(&mut fields);

        assert!(fields.is_empty());
    }
}
