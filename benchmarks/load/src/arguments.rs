//! The command line of both binaries: `--name value`, in any order.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

/// Values by name; a name that nobody asks for is found by [`Arguments::finish`].
#[derive(Debug)]
pub struct Arguments(BTreeMap<String, String>);

impl Arguments {
    /// Reads pairs of a name and a value.
    ///
    /// # Errors
    ///
    /// A name without dashes in front, or without a value behind.
    pub fn read(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut values = BTreeMap::new();
        while let Some(word) = words.next() {
            let name = word
                .strip_prefix("--")
                .ok_or_else(|| format!("`{word}` is not an option"))?;
            let value = words
                .next()
                .ok_or_else(|| format!("`--{name}` needs a value"))?;
            values.insert(name.to_owned(), value);
        }
        Ok(Self(values))
    }

    /// Takes the value of an option that may be absent.
    ///
    /// # Errors
    ///
    /// The value cannot be read as `T`.
    pub fn optional<T>(&mut self, name: &str) -> Result<Option<T>, String>
    where
        T: FromStr<Err: Display>,
    {
        self.0
            .remove(name)
            .map(|text| {
                text.parse()
                    .map_err(|error| format!("`--{name} {text}`: {error}"))
            })
            .transpose()
    }

    /// Takes the value of an option that must be there.
    ///
    /// # Errors
    ///
    /// It is absent, or cannot be read as `T`.
    pub fn required<T>(&mut self, name: &str) -> Result<T, String>
    where
        T: FromStr<Err: Display>,
    {
        self.optional(name)?
            .ok_or_else(|| format!("`--{name}` is missing"))
    }

    /// Ends the reading.
    ///
    /// # Errors
    ///
    /// An option was given that does not exist.
    pub fn finish(self) -> Result<(), String> {
        match self.0.keys().next() {
            Some(name) => Err(format!("there is no option `--{name}`")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(line: &str) -> Result<Arguments, String> {
        Arguments::read(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn an_option_is_read_as_its_type() {
        let mut given = arguments("--bytes 1024").unwrap();

        assert_eq!(given.required::<usize>("bytes"), Ok(1024));
        assert_eq!(given.optional::<usize>("rate"), Ok(None));
        assert_eq!(given.finish(), Ok(()));
    }

    #[test]
    fn a_mistake_names_the_option() {
        assert!(arguments("bytes 3").unwrap_err().contains("`bytes`"));
        assert!(arguments("--bytes").unwrap_err().contains("`--bytes`"));
        let mut given = arguments("--bytes x --more 1").unwrap();
        assert!(
            given
                .required::<usize>("bytes")
                .unwrap_err()
                .contains("--bytes x")
        );
        assert!(given.finish().unwrap_err().contains("--more"));
    }
}
