//! Sets of HTTP methods, small enough to sit in a table entry.

pub(crate) const KNOWN: [&str; 9] = [
    "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "CONNECT", "TRACE",
];
const GET: u16 = 1;
const HEAD: u16 = 1 << 1;
/// Says that the set holds methods that have no bit of their own.
const OTHERS: u16 = 1 << 15;
const ANY: u16 = u16::MAX;

/// The known methods of a set as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bits(u16);

/// The methods that a route admits.
#[derive(Clone, Debug)]
pub(crate) struct MethodSet {
    bits: Bits,
    /// Sorted methods without a bit.
    others: Box<[Box<str>]>,
}

/// The method of a request, looked up once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    bit: u16,
    text: &'a str,
}

impl MethodSet {
    /// The set for a route; without methods it admits any. `GET` admits `HEAD`.
    pub(crate) fn new<'a>(methods: impl IntoIterator<Item = &'a str>) -> Self {
        let mut bits = 0;
        let mut others: Vec<Box<str>> = Vec::new();
        for method in methods {
            match bit(method) {
                0 => others.push(method.into()),
                bit => bits |= bit,
            }
        }
        others.sort_unstable();
        others.dedup();
        if bits & GET != 0 {
            bits |= HEAD;
        }
        if !others.is_empty() {
            bits |= OTHERS;
        }
        if bits == 0 {
            bits = ANY;
        }
        Self {
            bits: Bits(bits),
            others: others.into(),
        }
    }

    pub(crate) fn bits(&self) -> Bits {
        self.bits
    }

    pub(crate) fn is_any(&self) -> bool {
        self.bits.0 == ANY
    }

    /// Whether `HEAD` was named for its own sake.
    pub(crate) fn names_head_alone(&self) -> bool {
        self.bits.0 & (HEAD | GET) == HEAD
    }

    pub(crate) fn admits(&self, asked: Asked<'_>) -> bool {
        self.bits
            .admit(asked)
            .unwrap_or_else(|| self.others.iter().any(|other| **other == *asked.text))
    }

    /// The names in the set, none when it admits any.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let bits = if self.is_any() { 0 } else { self.bits.0 };
        let known = KNOWN.into_iter().zip(0_u32..);
        known
            .filter(move |(_, index)| bits & (1 << index) != 0)
            .map(|(name, _)| name)
            .chain(self.others.iter().map(AsRef::as_ref))
    }
}

impl Bits {
    /// Whether the method is in the set; `None` when only the whole set can tell.
    pub(crate) fn admit(self, asked: Asked<'_>) -> Option<bool> {
        if self.0 == ANY || self.0 & asked.bit != 0 {
            return Some(true);
        }
        if asked.bit == 0 && self.0 & OTHERS != 0 {
            return None;
        }
        Some(false)
    }
}

impl<'a> Asked<'a> {
    pub(crate) fn new(method: &'a str) -> Self {
        Self {
            bit: bit(method),
            text: method,
        }
    }
}

/// Says why a method may not stand in a route, and what to write instead.
pub(crate) fn complaint(method: &str) -> Option<(&'static str, String)> {
    if method.is_empty() || !method.bytes().all(is_token_byte) {
        return Some((
            "is not a method token",
            String::from("a method such as GET"),
        ));
    }
    if method.bytes().any(|byte| byte.is_ascii_lowercase()) {
        return Some((
            "would never match: methods are case-sensitive",
            method.to_ascii_uppercase(),
        ));
    }
    None
}

/// `tchar` of RFC 9110 section 5.6.2.
pub(crate) fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn bit(method: &str) -> u16 {
    match method {
        "GET" => GET,
        "HEAD" => HEAD,
        "POST" => 1 << 2,
        "PUT" => 1 << 3,
        "DELETE" => 1 << 4,
        "PATCH" => 1 << 5,
        "OPTIONS" => 1 << 6,
        "CONNECT" => 1 << 7,
        "TRACE" => 1 << 8,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: RT-06
    #[test]
    fn every_known_method_has_the_bit_of_its_place() {
        for (index, method) in KNOWN.into_iter().enumerate() {
            assert_eq!(bit(method), 1 << index, "{method}");
        }
    }

    // spec: RT-06
    #[test]
    fn a_set_admits_what_it_names_and_head_with_get() {
        let set = MethodSet::new(["GET", "PURGE"]);

        let admitted = ["GET", "HEAD", "PURGE", "POST", "BREW", "get"]
            .map(|method| set.admits(Asked::new(method)));

        assert_eq!(admitted, [true, true, true, false, false, false]);
        assert_eq!(set.names().collect::<Vec<_>>(), ["GET", "HEAD", "PURGE"]);
    }

    // spec: RT-06
    #[test]
    fn a_set_without_names_admits_any_method() {
        let set = MethodSet::new([]);

        assert!(set.is_any());
        assert!(set.admits(Asked::new("BREW")));
        assert_eq!(set.names().count(), 0);
    }
}
