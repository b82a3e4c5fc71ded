"""The words above a generated table: Markdown files beside this one."""

from pathlib import Path


def introduction(page: str) -> str:
    """The beginning of a page, its heading included."""
    return Path(__file__).with_name(f"{page}.md").read_text(encoding="utf-8")
