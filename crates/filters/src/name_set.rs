//! A set of header names and prefixes that is cheap to ask.

/// Two bytes dismiss nearly every header: the first, and the third, because names of a set mostly
/// begin with `X-`.
///
/// `_` counts as `-`, and case does not count: an upstream behind CGI or WSGI sees `X_User_Id` and
/// `X-User-Id` as one name, so a client must not get past with the other spelling.
pub(crate) struct NameSet {
    /// Which first and which third bytes the names of the set have, as they may be written.
    bytes: Box<[Seen; 256]>,
    exact: Box<[Box<[u8]>]>,
    prefixes: Box<[Box<[u8]>]>,
    kept: Box<[Box<[u8]>]>,
}

#[derive(Clone, Copy, Default)]
struct Seen {
    first: bool,
    third: bool,
}

impl NameSet {
    /// Names and prefixes that belong to the set, and names that do not although a prefix says so.
    pub(crate) fn new<'a>(
        exact: impl IntoIterator<Item = &'a str>,
        prefixes: impl IntoIterator<Item = &'a str>,
        kept: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let exact = folded_all(exact);
        let prefixes = folded_all(prefixes);
        let mut bytes = Box::new([Seen::default(); 256]);
        for (byte, seen) in (u8::MIN..=u8::MAX).zip(bytes.iter_mut()) {
            let byte = folded(byte);
            let mut names = exact.iter().chain(&prefixes);
            seen.first = names.clone().any(|name| name.first() == Some(&byte));
            // A name of the set that ends before the third byte says nothing about it.
            seen.third = names.any(|name| name.get(2).is_none_or(|third| *third == byte));
        }
        Self {
            bytes,
            exact,
            prefixes,
            kept: folded_all(kept),
        }
    }

    pub(crate) fn contains(&self, name: &[u8]) -> bool {
        let seen = |byte: Option<&u8>| self.bytes.get(usize::from(*byte?)).copied();
        seen(name.first()).is_some_and(|seen| seen.first)
            && seen(name.get(2)).is_none_or(|seen| seen.third)
            && self.lists(name)
    }

    fn lists(&self, name: &[u8]) -> bool {
        let in_prefixes = || {
            self.prefixes.iter().any(|prefix| {
                name.get(..prefix.len())
                    .is_some_and(|start| equal(prefix, start))
            })
        };
        let listed = self.exact.iter().any(|exact| equal(exact, name)) || in_prefixes();
        listed && !self.kept.iter().any(|kept| equal(kept, name))
    }
}

fn folded_all<'a>(names: impl IntoIterator<Item = &'a str>) -> Box<[Box<[u8]>]> {
    names
        .into_iter()
        .map(|name| name.bytes().map(folded).collect())
        .collect()
}

const fn folded(byte: u8) -> u8 {
    match byte {
        b'_' => b'-',
        other => other.to_ascii_lowercase(),
    }
}

fn equal(known: &[u8], name: &[u8]) -> bool {
    known.len() == name.len()
        && known
            .iter()
            .zip(name)
            .all(|(known, byte)| *known == folded(*byte))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn case_and_underscores_make_no_other_name() {
        let set = NameSet::new(["X-Gray"], ["X-User-"], ["X-User-Agent"]);

        for name in ["x-gray", "X_GRAY", "X-User-Id", "x_user_id", "X-USER-"] {
            assert!(set.contains(name.as_bytes()), "{name}");
        }
        for name in ["", "x", "X-Gray-Tag", "X-User", "x-user-agent", "Y-Gray"] {
            assert!(!set.contains(name.as_bytes()), "{name}");
        }
    }

    proptest! {
        /// The shortcut by the first byte decides nothing else than the lists do.
        #[test]
        fn the_shortcut_never_changes_the_verdict(
            names in prop::collection::vec("[a-cA-C_-]{1,4}", 0..4),
            prefixes in prop::collection::vec("[a-cA-C_-]{1,2}", 0..3),
            asked in "[a-dA-D_-]{0,5}",
        ) {
            let texts = |of: &[String]| of.iter().map(|text| text.replace('_', "-").to_lowercase()).collect::<Vec<_>>();
            let (plain, starts) = (texts(&names), texts(&prefixes));
            let wanted = asked.replace('_', "-").to_lowercase();
            let expected = plain.contains(&wanted) || starts.iter().any(|start| wanted.starts_with(start.as_str()));

            let set = NameSet::new(names.iter().map(String::as_str), prefixes.iter().map(String::as_str), []);

            prop_assert_eq!(set.contains(asked.as_bytes()), expected);
        }
    }
}
