"""Secrets in documents are references: `file:/run/secrets/key` or `env:API_KEY`."""

from collections.abc import Iterator, Mapping
from typing import Any

from sluicegate.config.document import Document
from sluicegate.config.filter import FilterUse
from sluicegate.errors import Path

SECRET_FORMAT = "secret"  # noqa: S105 - a word of JSON Schema, no secret
"""A filter marks a field that takes a reference with `"format": "secret"` in its schema."""


def references(document: Document, schemas: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """Find every reference to a secret, and its place.

    `schemas` has the JSON Schema of each filter's configuration by its name: only the
    filter knows which of its fields are secret.
    """
    for index, use in enumerate(document.entry):
        yield from _in_filter(use, schemas, ("entry", index))
    for index, use in enumerate(document.route_defaults.filters):
        yield from _in_filter(use, schemas, ("route_defaults", "filters", index))
    for number, route in enumerate(document.routes):
        for index, use in enumerate(route.filters):
            yield from _in_filter(use, schemas, ("routes", number, "filters", index))


def _in_filter(
    use: FilterUse, schemas: Mapping[str, Any], path: Path
) -> Iterator[tuple[Path, str]]:
    schema = schemas.get(use.name, {})
    yield from _walk(use.config, schema, schema, (*path, "config"))


def _walk(value: Any, part: Any, schema: Any, path: Path) -> Iterator[tuple[Path, str]]:  # noqa: ANN401 - JSON
    if not isinstance(part, dict):
        return
    if "$ref" in part:
        part = schema.get("$defs", {}).get(str(part["$ref"]).rpartition("/")[2], {})
    for choice in (*part.get("anyOf", ()), *part.get("oneOf", ())):
        yield from _walk(value, choice, schema, path)
    if isinstance(value, str) and part.get("format") == SECRET_FORMAT:
        yield path, value
    elif isinstance(value, dict):
        for key, below in value.items():
            rest = part.get("additionalProperties", {})
            yield from _walk(below, part.get("properties", {}).get(key, rest), schema, (*path, key))
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield from _walk(below, part.get("items", {}), schema, (*path, index))
