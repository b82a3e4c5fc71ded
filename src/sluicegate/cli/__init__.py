"""The command line: one file per command."""

from sluicegate.cli.app import app

__all__ = ["app"]
