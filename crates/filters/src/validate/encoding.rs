//! What escapes stand for.

use sluicegate_core::InvalidConfig;

/// Whether every escape of a path or query is one, and stands for text.
///
/// # Errors
/// What is wrong, for the log.
pub(super) fn check(part: &str) -> Result<(), &'static str> {
    if !part.contains('%') {
        return Ok(());
    }
    // An escaped run is decoded by itself: raw characters are ASCII and end every run.
    let mut run = Vec::new();
    for byte in Octets(part.as_bytes()) {
        match byte {
            Octet::Broken => return Err("an escape is not two hexadecimal digits"),
            Octet::Escaped(byte) if byte.is_ascii_control() => {
                return Err("an escape stands for a control character");
            }
            Octet::Escaped(byte) => run.push(byte),
            Octet::Raw(_) => {
                check_run(&run)?;
                run.clear();
            }
        }
    }
    check_run(&run)
}

fn check_run(run: &[u8]) -> Result<(), &'static str> {
    let text = std::str::from_utf8(run).map_err(|_| "escapes stand for no UTF-8")?;
    // The controls of the upper half, U+0080 to U+009F, hide behind two bytes.
    if text.contains(char::is_control) {
        return Err("an escape stands for a control character");
    }
    Ok(())
}

/// ASCII characters that may stand neither raw nor escaped.
pub(super) struct Forbidden(Box<[u8]>);

impl Forbidden {
    pub(super) fn new(characters: &str) -> Result<Option<Self>, InvalidConfig> {
        let at = "/forbidden_characters";
        if let Some(other) = characters.chars().find(|char| !matches!(char, ' '..='~')) {
            let message = format!("`{}` is no visible ASCII character", other.escape_debug());
            return Err(InvalidConfig::new(at, message)
                .expecting("visible characters; control characters never pass"));
        }
        if let Some(own) = characters.chars().find(|char| "/%&=".contains(*char)) {
            let message = format!("without `{own}` there would be neither paths nor queries");
            return Err(InvalidConfig::new(at, message).expecting("other characters"));
        }
        Ok((!characters.is_empty()).then(|| Self(characters.as_bytes().into())))
    }

    pub(super) fn stand_in(&self, part: &str) -> bool {
        Octets(part.as_bytes()).any(|octet| match octet {
            Octet::Raw(byte) | Octet::Escaped(byte) => self.0.contains(&byte),
            Octet::Broken => false,
        })
    }
}

enum Octet {
    Raw(u8),
    Escaped(u8),
    /// A `%` without two digits.
    Broken,
}

struct Octets<'a>(&'a [u8]);

impl Iterator for Octets<'_> {
    type Item = Octet;

    fn next(&mut self) -> Option<Octet> {
        let (byte, rest) = self.0.split_first()?;
        if *byte != b'%' {
            self.0 = rest;
            return Some(Octet::Raw(*byte));
        }
        let digit = |byte: u8| {
            char::from(byte)
                .to_digit(16)
                .and_then(|d| u8::try_from(d).ok())
        };
        if let [high, low, after @ ..] = rest
            && let (Some(high), Some(low)) = (digit(*high), digit(*low))
        {
            self.0 = after;
            return Some(Octet::Escaped(high << 4 | low));
        }
        self.0 = rest;
        Some(Octet::Broken)
    }
}
