//! The normal form of a path that a filter has changed.

use std::borrow::Cow;

/// Puts a changed path back into normal form: one leading slash, runs of slashes merged.
/// `None` when something stands in it that the normal form cannot have and that only a change
/// could bring about: dot segments, broken escapes, escapes of unreserved characters, or
/// characters that are no part of a path. Such a path would mean one thing to the gateway, which
/// decided on it, and another to the upstream.
pub(crate) fn restored(path: &str) -> Option<Cow<'_, str>> {
    if is_plainly_normal(path.as_bytes()) {
        return Some(Cow::Borrowed(path));
    }
    let path = if path.starts_with('/') && !path.contains("//") {
        Cow::Borrowed(path)
    } else {
        Cow::Owned(merged(path))
    };
    let sound = path
        .split('/')
        .all(|segment| segment != "." && segment != "..")
        && has_sound_bytes(path.as_bytes());
    sound.then_some(path)
}

/// As [`restored`], of a path that is its own.
pub(crate) fn restored_own(path: String) -> Option<String> {
    if is_plainly_normal(path.as_bytes()) {
        return Some(path);
    }
    restored(&path).map(Cow::into_owned)
}

/// The usual path, by two loops without branches, which compile to vector instructions; `false`
/// asks for a closer look.
fn is_plainly_normal(path: &[u8]) -> bool {
    let odd = path.iter().fold(0, |odd, byte| {
        odd | u8::from(!byte.is_ascii_graphic() || matches!(byte, b'%' | b'\\' | b'?' | b'#'))
    });
    let next = path.get(1..).unwrap_or_default();
    let pairs = path.iter().zip(next).fold(0, |pairs, (first, second)| {
        pairs | (u8::from(*first == b'/') & u8::from(matches!(second, b'/' | b'.')))
    });
    path.first() == Some(&b'/') && odd | pairs == 0
}

fn merged(path: &str) -> String {
    let mut merged = String::with_capacity(path.len() + 1);
    merged.push('/');
    for character in path.chars() {
        if character != '/' || !merged.ends_with('/') {
            merged.push(character);
        }
    }
    merged
}

fn has_sound_bytes(path: &[u8]) -> bool {
    let mut rest = path;
    while let Some((byte, after)) = rest.split_first() {
        rest = match byte {
            b'%' => match after {
                [high, low, after @ ..] if is_sound_escape(*high, *low) => after,
                _ => return false,
            },
            b'\\' | b'?' | b'#' => return false,
            0x21..=0x7e => after,
            _ => return false,
        };
    }
    true
}

/// Two upper-case digits that do not stand for an unreserved character (RFC 3986 §2.3).
fn is_sound_escape(high: u8, low: u8) -> bool {
    let digit = |b: u8| match b {
        b'0'..=b'9' => Some(b - b'0'),
        b'A'..=b'F' => Some(b - b'A' + 10),
        _ => None,
    };
    let (Some(high), Some(low)) = (digit(high), digit(low)) else {
        return false;
    };
    let byte = high << 4 | low;
    !byte.is_ascii_alphanumeric() && !b"-._~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slashes_are_put_right() {
        for (given, normal) in [
            ("", "/"),
            ("/", "/"),
            ("a/b", "/a/b"),
            ("//a///b//", "/a/b/"),
            ("/a%2Fb/", "/a%2Fb/"),
            ("/(x,y);v=1", "/(x,y);v=1"),
        ] {
            assert_eq!(restored(given).as_deref(), Some(normal), "{given}");
        }
    }

    #[test]
    fn what_only_a_change_can_bring_about_is_refused() {
        for bad in [
            "/a/../b", "/..", "/.", "/a/%2", "/a%", "/%zz", "/%2e", "/%2E", "/%41", "/a b", "/a?b",
            "/a#b", "/a\\b", "/\u{e9}", "/a\0",
        ] {
            assert_eq!(restored(bad), None, "{bad:?}");
        }
    }
}
