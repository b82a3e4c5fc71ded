//! A mistake in a route's conditions.

/// One mistake, with what would be right where that can be said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Index of the route in the list given to [`Router::build`](crate::Router::build).
    pub route: usize,
    /// The tail of a JSON pointer below the route, such as `/match/path`.
    pub field: String,
    /// What is wrong, in one sentence.
    pub message: String,
    /// What would be right.
    pub expected: Option<String>,
}

impl Problem {
    pub(crate) fn new(route: usize, field: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            route,
            field: field.into(),
            message: message.into(),
            expected: None,
        }
    }

    pub(crate) fn expecting(mut self, expected: impl Into<String>) -> Self {
        self.expected = Some(expected.into());
        self
    }
}
