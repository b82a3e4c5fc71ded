//! Read and write buffers of one thread, used again and again.

use std::cell::RefCell;

/// The usual size: a head and a small body fit.
pub(crate) const SMALL: usize = 16 << 10;
/// For bodies that keep coming.
pub(crate) const LARGE: usize = 64 << 10;

/// Idle connections hold no buffer; a busy one borrows from here and gives back.
pub(crate) struct Buffers {
    small: RefCell<Vec<Vec<u8>>>,
    large: RefCell<Vec<Vec<u8>>>,
}

/// How many buffers of each size are kept for the next user; more are freed.
const KEPT_SMALL: usize = 512;
const KEPT_LARGE: usize = 32;

impl Buffers {
    pub(crate) const fn new() -> Self {
        Self {
            small: RefCell::new(Vec::new()),
            large: RefCell::new(Vec::new()),
        }
    }

    pub(crate) fn small(&self) -> Vec<u8> {
        self.small
            .borrow_mut()
            .pop()
            .unwrap_or_else(|| Vec::with_capacity(SMALL))
    }

    pub(crate) fn large(&self) -> Vec<u8> {
        self.large
            .borrow_mut()
            .pop()
            .unwrap_or_else(|| Vec::with_capacity(LARGE))
    }

    /// Takes a buffer back; one that has grown beyond its class, or never had one, is freed.
    pub(crate) fn give(&self, mut buffer: Vec<u8>) {
        let (shelf, kept) = match buffer.capacity() {
            SMALL..LARGE => (&self.small, KEPT_SMALL),
            LARGE..=0x2_0000 => (&self.large, KEPT_LARGE),
            _ => return,
        };
        let mut shelf = shelf.borrow_mut();
        if shelf.len() < kept {
            buffer.clear();
            shelf.push(buffer);
        }
    }
}
