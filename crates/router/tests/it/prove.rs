//! What the prover says of routes, one situation at a time.
