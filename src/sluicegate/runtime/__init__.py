"""Runs a data plane: start, follow the document, reload, drain."""
