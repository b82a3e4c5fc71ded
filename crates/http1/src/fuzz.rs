//! What each fuzz target does with its bytes; not part of the interface.
