//! The path normal form, on which matching, every decision and the upstream agree.

/// What [`normalize`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Normal {
    /// The path is in normal form already.
    Unchanged,
    /// The normal form differs and is in the scratch string.
    Changed,
}

/// A path that has no safe reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadPath(&'static str);

impl BadPath {
    /// One sentence about what is wrong, without any text of the client.
    pub fn reason(self) -> &'static str {
        self.0
    }
}

/// Puts a path into normal form.
///
/// # Errors
///
/// [`BadPath`] where two readers could disagree about the path.
pub fn normalize(path: &str, scratch: &mut String) -> Result<Normal, BadPath> {
    scratch.clear();
    if path.starts_with('/') {
        Ok(Normal::Unchanged)
    } else {
        Err(BadPath("the path does not begin with a slash"))
    }
}

/// Whether the path holds a `%2F`.
pub fn has_encoded_slash(path: &str) -> bool {
    path.contains("%2F")
}
