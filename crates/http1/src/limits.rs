//! How large a head may be.

/// Most fields that one head can have, whatever the limits say.
pub(crate) const MOST_FIELDS: usize = 256;

/// Largest head that can be read, whatever the limits say.
pub(crate) const MOST_BYTES: usize = 16 << 20;

/// How large a head may be before it is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadLimits {
    /// The whole head in bytes, its empty line included: 431 beyond. At most 16 MiB counts.
    pub bytes: usize,
    /// Number of fields: 431 beyond. At most 256 counts.
    pub fields: usize,
    /// The request target in bytes, as received: 414 beyond.
    pub target: usize,
}

impl HeadLimits {
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.min(MOST_BYTES)
    }

    pub(crate) fn fields(&self) -> usize {
        self.fields.min(MOST_FIELDS)
    }
}

impl Default for HeadLimits {
    /// 16 KiB, 100 fields, a target of 8 KiB.
    fn default() -> Self {
        Self {
            bytes: 16 << 10,
            fields: 100,
            target: 8 << 10,
        }
    }
}
