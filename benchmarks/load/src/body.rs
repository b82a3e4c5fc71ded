//! The body that the upstream sends and the load generator expects.

/// Bytes that differ from place to place, so that a part that is lost, doubled or moved shows.
pub fn pattern(bytes: usize) -> Vec<u8> {
    // A prime that shares no factor with buffer sizes: a shift by a whole buffer is seen too.
    const PERIOD: usize = 251;

    (0..bytes)
        .map(|place| u8::try_from(place % PERIOD).unwrap_or(u8::MAX))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shift_by_a_buffer_is_another_body() {
        let body = pattern(64 * 1024);

        assert_eq!(body.len(), 64 * 1024);
        assert_ne!(body[..4096], body[4096..8192]);
    }
}
