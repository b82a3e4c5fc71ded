//! What the keys of a record are called.

use crate::fields::{CAMPUS_FIELDS, FIELDS, Field};

/// A set of keys.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum NameSet {
    /// Our own.
    #[default]
    Sluicegate,
    /// The names and formats of OB-12.
    Campus,
}

impl NameSet {
    /// Every set, in the order of the reference.
    pub const ALL: [Self; 2] = [Self::Sluicegate, Self::Campus];

    /// The set of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|set| set.name() == name)
    }

    /// As the configuration calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sluicegate => "sluicegate",
            Self::Campus => "campus",
        }
    }

    /// Its keys, in the order in which they are written.
    pub const fn fields(self) -> &'static [Field] {
        match self {
            Self::Sluicegate => FIELDS,
            Self::Campus => CAMPUS_FIELDS,
        }
    }
}
