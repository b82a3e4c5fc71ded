"""`python -m sluicegate` is the command `sluicegate`."""

from sluicegate.cli import app

app(prog_name="sluicegate")
