//! Which octets may stand where (RFC 9110 section 5, RFC 9112 section 3).

const TOKEN: u8 = 1;
const HOST: u8 = 2;

static CLASS: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut octet: u8 = 0;
    loop {
        let mut class = 0;
        if octet.is_ascii_alphanumeric()
            || matches!(
                octet,
                b'!' | b'#'
                    | b'$'
                    | b'%'
                    | b'&'
                    | b'\''
                    | b'*'
                    | b'+'
                    | b'-'
                    | b'.'
                    | b'^'
                    | b'_'
                    | b'`'
                    | b'|'
                    | b'~'
            )
        {
            class |= TOKEN;
        }
        if octet.is_ascii_alphanumeric() || matches!(octet, b'-' | b'.' | b'_' | b'~') {
            class |= HOST;
        }
        #[expect(
            clippy::indexing_slicing,
            reason = "evaluated at compile time, a u8 indexes 256 places"
        )]
        {
            table[octet as usize] = class;
        }
        if octet == u8::MAX {
            return table;
        }
        octet += 1;
    }
}

fn is(octet: u8, class: u8) -> bool {
    CLASS
        .get(usize::from(octet))
        .is_some_and(|of| of & class != 0)
}

/// `tchar`: what method and field names are made of.
pub(crate) fn is_token(octet: u8) -> bool {
    is(octet, TOKEN)
}

/// One or more `tchar`.
pub(crate) fn is_token_text(text: &[u8]) -> bool {
    // Names are short and nearly always right: no early exit is quicker.
    let class = |octet: &u8| CLASS.get(usize::from(*octet)).copied().unwrap_or_default();
    !text.is_empty() && text.iter().fold(TOKEN, |all, octet| all & class(octet)) != 0
}

/// Any octet that a field value may contain, white space included.
pub(crate) fn is_value(octet: u8) -> bool {
    (octet >= b' ' && octet != 0x7f) || octet == b'\t'
}

/// A field value without white space at its ends.
pub(crate) fn is_value_text(text: &[u8]) -> bool {
    let is_blank = |end: Option<&u8>| matches!(end, Some(b' ' | b'\t'));
    has_none(text, |octet| !is_value(octet)) && !is_blank(text.first()) && !is_blank(text.last())
}

/// Visible ASCII but the fragment's `#`.
pub(crate) fn is_target_text(text: &[u8]) -> bool {
    has_none(text, |octet| !octet.is_ascii_graphic() || octet == b'#')
}

/// Visible ASCII but the marks that end a path.
pub(crate) fn is_path_text(text: &[u8]) -> bool {
    has_none(text, |octet| {
        !octet.is_ascii_graphic() || matches!(octet, b'#' | b'?')
    })
}

/// Without an early exit it becomes a few vector instructions, which `all` does not; and a byte for
/// a sum, because any wider one would have to be widened to.
fn has_none(text: &[u8], matches: impl Fn(u8) -> bool) -> bool {
    text.iter()
        .fold(0, |found, &octet| found | u8::from(matches(octet)))
        == 0
}

/// Letter, digit, `-`, `.`, `_` or `~`: what a registered name has but for escapes and delimiters.
pub(crate) fn is_host(octet: u8) -> bool {
    is(octet, HOST)
}

/// The text without optional white space (space, tab) at its ends.
pub(crate) fn trim(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = text {
        text = rest;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_those_of_the_grammar() {
        let count = |is: fn(u8) -> bool| (0..=u8::MAX).filter(|&octet| is(octet)).count();

        assert_eq!(count(is_token), 62 + 15);
        assert_eq!(count(is_value), 1 + 95 + 128);
        assert_eq!(count(|octet| is_target_text(&[octet])), 93);
        assert_eq!(count(is_host), 62 + 4);
    }

    #[test]
    fn trim_takes_tabs_and_spaces_only() {
        assert_eq!(trim(b" \ta b\t "), b"a b");
        assert_eq!(trim(b" \t "), b"");
        assert_eq!(trim(b"\x0ba"), b"\x0ba");
    }

    #[test]
    fn a_value_neither_begins_nor_ends_with_white_space() {
        assert!(is_value_text(b""));
        assert!(is_value_text(b"a b"));
        assert!(!is_value_text(b" a"));
        assert!(!is_value_text(b"a\t"));
        assert!(!is_value_text(b"a\rb"));
        assert!(!is_value_text(b"a\0b"));
    }
}
