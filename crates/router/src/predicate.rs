//! Conditions on headers, query parameters and cookies.

use regex::Regex;

/// A condition on one named header, query parameter or cookie.
#[derive(Clone, Debug)]
pub struct Predicate {
    /// Header names are case-insensitive, the names of parameters and cookies are not.
    pub name: String,
    /// What is asked of its values.
    pub test: Test,
}

/// What a predicate asks; with several values of one name, one that passes is enough.
#[derive(Clone, Debug)]
pub enum Test {
    /// A value is exactly this.
    Equals(String),
    /// A value matches as a whole, from its first to its last character.
    Matches(Regex),
    /// There is a value (`true`) or there is none (`false`).
    Present(bool),
}
