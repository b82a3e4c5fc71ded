//! The path normal form, on which matching, every decision and the upstream agree.

/// What [`normalize`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Normal {
    /// The path is in normal form already; nothing is in the scratch string.
    Unchanged,
    /// The normal form differs and is in the scratch string.
    Changed,
}

/// A path that two readers could take for two different ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadPath(&'static str);

impl BadPath {
    /// What is wrong, without any text of the client.
    pub fn reason(self) -> &'static str {
        self.0
    }
}

const NO_SLASH: BadPath = BadPath("the path does not begin with a slash");
const CHARACTER: BadPath = BadPath("the path holds a character that no path may hold");
const ESCAPE: BadPath = BadPath("the path holds an invalid percent sequence");
const CONTROL: BadPath = BadPath("the path holds a control character");
const BACKSLASH: BadPath = BadPath("the path holds a backslash");
const DISGUISE: BadPath =
    BadPath("the path hides a dot segment behind a semicolon or an encoded slash");
const NAMELESS: BadPath = BadPath("the path holds a segment that begins with a semicolon");

/// Puts a path (without its query) into the normal form of RFC 3986 section 6.2.2.
///
/// Escapes of unreserved characters are decoded, once; the others get upper-case digits and stay:
/// `%2F` is one character of its segment, `%28` and `(` are two different ones. Bytes outside
/// ASCII are escaped. Dot segments go and slashes are merged; an empty path is `/`. One pass and
/// no allocation for a path that is in this form already.
///
/// # Errors
///
/// Control characters, backslashes and invalid escapes, and segments that some servers take for a
/// dot segment or an empty one: `..;x`, `..%2F`, `;x`.
pub fn normalize(path: &str, scratch: &mut String) -> Result<Normal, BadPath> {
    scratch.clear();
    if is_plainly_normal(path.as_bytes())? {
        return Ok(Normal::Unchanged);
    }

    rebuild(path, scratch)?;
    if scratch == path {
        scratch.clear();
        return Ok(Normal::Unchanged);
    }
    Ok(Normal::Changed)
}

/// Whether the path holds a slash as an escape.
pub fn has_encoded_slash(path: &str) -> bool {
    path.as_bytes()
        .windows(3)
        .any(|window| matches!(window, [b'%', b'2', b'F' | b'f']))
}

/// Whether a glance suffices; `false` asks for a closer look, not only for a change.
fn is_plainly_normal(path: &[u8]) -> Result<bool, BadPath> {
    if has_nothing_to_look_at(path) {
        return Ok(true);
    }
    let mut rest = match path {
        [b'/', ..] => path,
        [] => return Ok(false),
        [..] => return Err(NO_SLASH),
    };
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'/' => match after {
                [b'/' | b';', ..] => return Ok(false),
                [b'.', name @ ..] if may_be_dot_segment(name) => return Ok(false),
                [..] => {}
            },
            b'%' => {
                let [
                    high @ (b'0'..=b'9' | b'A'..=b'F'),
                    low @ (b'0'..=b'9' | b'A'..=b'F'),
                    ..,
                ] = after
                else {
                    return Ok(false);
                };
                match octet(*high, *low) {
                    Some(octet) if is_kept_escaped(octet) && octet != b'/' => {}
                    Some(_) | None => return Ok(false),
                }
            }
            0..=b' ' | 0x7F.. | b'\\' | b'?' | b'#' => return Ok(false),
            _ => {}
        }
    }
    Ok(true)
}

/// The usual path, by two loops without branches, which compile to vector instructions.
fn has_nothing_to_look_at(path: &[u8]) -> bool {
    let odd = path.iter().fold(0, |odd, byte| {
        odd | u8::from(matches!(
            byte,
            0..=b' ' | 0x7F.. | b'%' | b';' | b'\\' | b'?' | b'#'
        ))
    });
    let next = path.get(1..).unwrap_or_default();
    let pairs = path.iter().zip(next).fold(0, |pairs, (first, second)| {
        pairs | (u8::from(*first == b'/') & u8::from(matches!(second, b'/' | b'.')))
    });
    path.first() == Some(&b'/') && odd | pairs == 0
}

/// What may follow the first dot of a segment that is, or poses as, `.` or `..`.
fn may_be_dot_segment(after_dot: &[u8]) -> bool {
    matches!(
        after_dot,
        [] | [b'/' | b';' | b'%', ..] | [b'.'] | [b'.', b'/' | b';' | b'%', ..]
    )
}

fn rebuild(path: &str, out: &mut String) -> Result<(), BadPath> {
    let mut ends_with_slash = true;
    for segment in path.split('/').skip(1) {
        if segment.is_empty() {
            ends_with_slash = true;
            continue;
        }
        let start = out.len();
        out.push('/');
        push_decoded(segment, out)?;

        ends_with_slash = true;
        match out.get(start + 1..).unwrap_or_default() {
            "." => out.truncate(start),
            ".." => {
                out.truncate(start);
                out.truncate(out.rfind('/').unwrap_or(0));
            }
            name => {
                refuse_disguise(name)?;
                ends_with_slash = false;
            }
        }
    }
    if ends_with_slash {
        out.push('/');
    }
    Ok(())
}

fn push_decoded(segment: &str, out: &mut String) -> Result<(), BadPath> {
    let mut bytes = segment.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'%' => {
                let (Some(high), Some(low)) = (bytes.next(), bytes.next()) else {
                    return Err(ESCAPE);
                };
                let octet = octet(high, low).ok_or(ESCAPE)?;
                match octet {
                    0..b' ' | 0x7F => return Err(CONTROL),
                    b'\\' => return Err(BACKSLASH),
                    _ if is_kept_escaped(octet) => push_escape(octet, out),
                    _ => out.push(char::from(octet)),
                }
            }
            0x80.. => push_escape(byte, out),
            0..b' ' | 0x7F => return Err(CONTROL),
            b'\\' => return Err(BACKSLASH),
            b' ' | b'?' | b'#' => return Err(CHARACTER),
            _ => out.push(char::from(byte)),
        }
    }
    Ok(())
}

/// Servers that drop what follows a semicolon, or decode `%2F`, see other segments than we do.
fn refuse_disguise(segment: &str) -> Result<(), BadPath> {
    if segment.starts_with(';') {
        return Err(NAMELESS);
    }
    let poses = |part: &str| {
        let name = part.split(';').next().unwrap_or_default();
        let name = name.split("%3B").next().unwrap_or_default();
        matches!(name, "." | "..")
    };
    if segment.split("%2F").any(poses) {
        return Err(DISGUISE);
    }
    Ok(())
}

fn octet(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    Some(digit(high)? << 4 | digit(low)?)
}

/// Everything but the unreserved characters (RFC 3986 section 2.3) and what is refused.
fn is_kept_escaped(octet: u8) -> bool {
    let is_unreserved = octet.is_ascii_alphanumeric() || b"-._~".contains(&octet);
    let is_refused = octet < b' ' || octet == 0x7F || octet == b'\\';
    !is_unreserved && !is_refused
}

fn push_escape(octet: u8, out: &mut String) {
    const DIGITS: [char; 16] = [
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F',
    ];
    out.push('%');
    for digit in [octet >> 4, octet & 15] {
        out.push(DIGITS.get(usize::from(digit)).copied().unwrap_or('0'));
    }
}
