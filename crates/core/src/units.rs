//! Values with units: `250ms`, `2MiB`.

use std::{fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A length of time such as `250ms`, `3s`, `5m` or `1h`. A number without a unit is refused:
/// nobody can tell seconds from milliseconds in a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(pub Duration);

/// A number of bytes such as `512B`, `16KiB`, `2MiB`, `1GiB` (powers of 1024) or `10KB`, `5MB`, `1GB` (powers of 1000).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteSize(pub u64);

const SPANS: [(&str, u64); 5] = [
    ("ms", 1_000_000),
    ("us", 1_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

const SIZES: [(&str, u64); 7] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("B", 1),
];

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        scaled(text, &SPANS)
            .map(|nanos| Self(Duration::from_nanos(nanos)))
            .ok_or_else(|| format!("`{text}` is not a length of time; write a whole number and a unit, such as 250ms, 3s, 5m or 1h"))
    }
}

impl FromStr for ByteSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        scaled(text, &SIZES)
            .map(Self)
            .ok_or_else(|| format!("`{text}` is not a size; write a whole number and a unit, such as 512B, 16KiB or 2MiB"))
    }
}

fn scaled(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at_checked(digits)?;
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    number.parse::<u64>().ok()?.checked_mul(*factor)
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.0.as_micros();
        if micros.is_multiple_of(1_000_000) {
            write!(f, "{}s", micros / 1_000_000)
        } else if micros.is_multiple_of(1_000) {
            write!(f, "{}ms", micros / 1_000)
        } else {
            write!(f, "{micros}us")
        }
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}B", self.0)
    }
}

/// The serde and JSON Schema forms of a unit are the same for all: a string.
macro_rules! as_text {
    ($type:ident, $pattern:literal, $example:literal) => {
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({"type": "string", "pattern": $pattern, "examples": [$example]})
            }
        }
    };
}

as_text!(Span, "^[0-9]+(us|ms|s|m|h)$", "250ms");
as_text!(ByteSize, "^[0-9]+(B|KiB|MiB|GiB|KB|MB|GB)$", "2MiB");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_demanded() {
        assert_eq!(
            "250ms".parse::<Span>().unwrap().0,
            Duration::from_millis(250)
        );
        assert_eq!("1h".parse::<Span>().unwrap().0, Duration::from_hours(1));
        assert_eq!("16KiB".parse::<ByteSize>().unwrap().0, 16_384);
        assert_eq!("2MB".parse::<ByteSize>().unwrap().0, 2_000_000);
        for bad in [
            "",
            "5",
            "5 s",
            "-1s",
            "1.5s",
            "s",
            "5d",
            "99999999999999999999s",
        ] {
            assert!(bad.parse::<Span>().is_err(), "{bad}");
        }
        for bad in ["", "5", "5kb", "-1B", "1.5MiB"] {
            assert!(bad.parse::<ByteSize>().is_err(), "{bad}");
        }
    }

    #[test]
    fn what_is_printed_reads_back() {
        for text in ["250ms", "3s", "7us", "0s"] {
            assert_eq!(text.parse::<Span>().unwrap().to_string(), text);
        }
    }
}
