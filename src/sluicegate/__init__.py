"""Sluicegate: an API gateway, a Python product on a Rust engine."""
