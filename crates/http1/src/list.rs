//! Comma-separated lists in field values (RFC 9110 section 5.6.1).

use crate::octets::trim;

/// The members of a list without white space around them; empty members are skipped.
pub(crate) fn members(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value
        .split(|&octet| octet == b',')
        .map(trim)
        .filter(|member| !member.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_trimmed_and_empty_ones_skipped() {
        assert_eq!(
            members(b" a ,, b c\t,").collect::<Vec<_>>(),
            [&b"a"[..], b"b c"]
        );
        assert_eq!(members(b"").count(), 0);
    }
}
