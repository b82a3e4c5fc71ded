"""The JSON Schema describes what is accepted, for editors."""

from typing import Any

from sluicegate.config.document import Document
from sluicegate.config.schema import document_schema

FILTERS = {
    "path_rewrite": {
        "$schema": "x",
        "type": "object",
        "properties": {"rule": {"$ref": "#/$defs/Rule"}},
        "$defs": {"Rule": {"properties": {"next": {"$ref": "#/$defs/Rule"}}}},
    },
    "request_id": {"type": "object"},
}


def test_filters_have_their_own_fields() -> None:
    schema = document_schema(FILTERS)

    use = schema["$defs"]["FilterUse"]
    assert use["properties"]["name"]["enum"] == ["path_rewrite", "request_id"]
    assert use["allOf"][0] == {
        "if": {"properties": {"name": {"const": "path_rewrite"}}, "required": ["name"]},
        "then": {"properties": {"config": {"$ref": "#/$defs/filter.path_rewrite"}}},
    }


def test_every_reference_leads_somewhere() -> None:
    schema = document_schema(FILTERS)

    def references(part: Any) -> set[str]:  # noqa: ANN401 - JSON
        if isinstance(part, dict):
            own = {part["$ref"]} if isinstance(part.get("$ref"), str) else set()
            return own.union(*(references(value) for value in part.values()))
        return set().union(*(references(one) for one in part)) if isinstance(part, list) else set()

    known = {f"#/$defs/{name}" for name in schema["$defs"]}
    assert references(schema) <= known
    assert "#/$defs/filter.path_rewrite.Rule" in references(schema)


def test_every_field_is_described() -> None:
    schema = Document.model_json_schema()

    # Where a field is described by the same sentence as its noun, only the noun has it.
    silent = [
        f"{noun}.{name}"
        for noun, part in {"Document": schema, **schema["$defs"]}.items()
        for name, field in part.get("properties", {}).items()
        if not (field.get("description") or "$ref" in field)
    ]
    assert silent == []


def test_defaults_are_shown_as_a_user_writes_them() -> None:
    limits = document_schema({})["$defs"]["ListenerLimits"]["properties"]

    assert limits["header"]["default"] == "16KiB"
    assert (
        document_schema({})["$defs"]["UpstreamTimeouts"]["properties"]["connect"]["default"] == "1s"
    )
