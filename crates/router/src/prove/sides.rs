//! What must hold and what must not, of one part of a request.

/// Something found, nothing to be found, or nobody knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Sample<T> {
    /// One that keeps every side.
    One(T),
    /// Proven: there is none.
    None,
    /// None was found, which proves nothing: patterns are tried, not solved.
    Unknown,
}

/// The tests of one part of a request that hold, and those that do not.
#[derive(Clone, Debug)]
pub(super) struct Sides<T> {
    pub(super) held: Vec<T>,
    pub(super) broken: Vec<T>,
}

impl<T> Default for Sides<T> {
    fn default() -> Self {
        Self {
            held: Vec::new(),
            broken: Vec::new(),
        }
    }
}

impl<T: Copy> Sides<T> {
    pub(super) fn hold(&mut self, test: T) {
        self.held.push(test);
    }

    pub(super) fn breaking(mut self, test: T) -> Self {
        self.broken.push(test);
        self
    }

    /// Whether a candidate is on the right side of everything.
    pub(super) fn keeps(&self, passes: impl Fn(T) -> bool) -> bool {
        self.held.iter().all(|test| passes(*test)) && !self.broken.iter().any(|test| passes(*test))
    }
}
