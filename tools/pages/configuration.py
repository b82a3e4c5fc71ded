"""The page of the document: every field that can be written."""

from collections.abc import Mapping
from typing import Any

from pages.fields import Tables
from pages.introductions import introduction

INTRODUCTION = introduction("configuration")


def page(schema: Mapping[str, Any]) -> str:
    """Every field, section by section."""
    definitions = {
        name: part for name, part in schema["$defs"].items() if not name.startswith("filter.")
    }
    # Its list of names would fill a page of its own, and does: the filters' index.
    use = definitions["FilterUse"]
    name = {key: value for key, value in use["properties"]["name"].items() if key != "enum"}
    config = {
        "description": "The filter's own fields: see [Filters](filters.md).",
        "type": "object",
    }
    properties = {**use["properties"], "name": name, "config": config}
    definitions["FilterUse"] = {**use, "properties": properties}
    lines = [INTRODUCTION]
    for table in Tables(definitions).of(schema):
        lines += table.lines(level=3 if "." in table.path else 2)
    return "\n".join(lines).replace("(../configuration.md#", "(#")
