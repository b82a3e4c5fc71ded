//! The parameters of a query, raw.

use std::borrow::Cow;

use crate::template::Escape;

/// Parameters in their order, each as it was written.
pub(super) struct Pairs<'a> {
    pairs: Vec<Cow<'a, str>>,
    /// An operation found something to do.
    pub(super) changed: bool,
}

/// The raw name of a parameter.
#[derive(Clone, Copy)]
pub(super) struct RawName<'a>(&'a str);

impl RawName<'_> {
    /// Whether it stands for `name` once decoded; a broken escape stands for itself.
    pub(super) fn is(self, name: &str) -> bool {
        let mut wanted = name.bytes();
        let mut rest = self.0.as_bytes();
        while let Some((byte, after)) = rest.split_first() {
            let (decoded, after) = match (byte, after) {
                (b'+', _) => (b' ', after),
                (b'%', [high, low, tail @ ..]) => match (digit(*high), digit(*low)) {
                    (Some(high), Some(low)) => (high << 4 | low, tail),
                    _ => (b'%', after),
                },
                _ => (*byte, after),
            };
            if wanted.next() != Some(decoded) {
                return false;
            }
            rest = after;
        }
        wanted.next().is_none()
    }
}

impl<'a> Pairs<'a> {
    pub(super) fn of(query: &'a str) -> Self {
        let pairs = if query.is_empty() {
            Vec::new()
        } else {
            query.split('&').map(Cow::Borrowed).collect()
        };
        Self {
            pairs,
            changed: false,
        }
    }

    pub(super) fn retain(&mut self, mut keeps: impl FnMut(RawName<'_>) -> bool) {
        let before = self.pairs.len();
        self.pairs.retain(|pair| keeps(name_of(pair)));
        self.changed |= self.pairs.len() != before;
    }

    pub(super) fn rename(&mut self, old: &str, new: &str) {
        for pair in &mut self.pairs {
            if name_of(pair).is(old) {
                let value = pair.find('=').and_then(|at| pair.get(at..));
                let renamed = [&encoded(new.as_bytes()), value.unwrap_or_default()].concat();
                *pair = Cow::Owned(renamed);
                self.changed = true;
            }
        }
    }

    pub(super) fn set(&mut self, name: &str, value: &[u8]) {
        let pair = written(name, value);
        let mut placed = false;
        let mut changed = false;
        self.pairs.retain_mut(|known| {
            if !name_of(known).is(name) {
                return true;
            }
            if placed {
                changed = true;
                return false;
            }
            placed = true;
            if *known != pair {
                changed = true;
                *known = Cow::Owned(pair.clone());
            }
            true
        });
        self.changed |= changed;
        if !placed {
            self.pairs.push(Cow::Owned(pair));
            self.changed = true;
        }
    }

    pub(super) fn add(&mut self, name: &str, value: &[u8]) {
        self.pairs.push(Cow::Owned(written(name, value)));
        self.changed = true;
    }

    /// The query; none when no parameter is left.
    pub(super) fn into_query(self) -> Option<String> {
        (!self.pairs.is_empty()).then(|| self.pairs.join("&"))
    }
}

fn name_of(pair: &str) -> RawName<'_> {
    RawName(pair.split_once('=').map_or(pair, |(name, _)| name))
}

fn written(name: &str, value: &[u8]) -> String {
    [encoded(name.as_bytes()), encoded(value)].join("=")
}

fn encoded(text: &[u8]) -> String {
    let mut out = Vec::with_capacity(text.len());
    Escape::Component.write(text, &mut out);
    String::from_utf8(out).unwrap_or_default()
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte)
        .to_digit(16)
        .and_then(|digit| u8::try_from(digit).ok())
}
