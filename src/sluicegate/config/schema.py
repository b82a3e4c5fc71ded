"""The JSON Schema of documents, the filters' own fields included, for editors and forms."""

from collections.abc import Mapping
from typing import Any

from sluicegate.config.document import Document

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def document_schema(filters: Mapping[str, Any]) -> dict[str, Any]:
    """Describe a whole document; `filters` has the schema of each filter by its name."""
    schema = Document.model_json_schema()
    definitions = schema["$defs"]
    uses = [definitions["FilterUse"], definitions["RouteFilterUse"]]
    for use in uses:
        if filters:
            use["properties"]["name"] = {**use["properties"]["name"], "enum": sorted(filters)}
        use["allOf"] = []
    for name, own in sorted(filters.items()):
        definitions.update(_as_definitions(name, own))
        reference = {"$ref": f"#/$defs/{_key(name)}"}
        rule = {
            "if": {"properties": {"name": {"const": name}}, "required": ["name"]},
            "then": {"properties": {"config": reference}},
        }
        for use in uses:
            use["allOf"].append(rule)
    return {"$schema": DIALECT, "title": "Sluicegate document", **schema}


def _as_definitions(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    own = {key: value for key, value in schema.items() if key not in {"$schema", "$defs"}}
    definitions = {_key(name): _moved(own, name)}
    for inner, part in schema.get("$defs", {}).items():
        definitions[f"{_key(name)}.{inner}"] = _moved(part, name)
    return definitions


def _moved(part: Any, name: str) -> Any:  # noqa: ANN401 - JSON
    """Let references point at where a filter's definitions have moved to."""
    if isinstance(part, dict):
        return {
            key: f"#/$defs/{_key(name)}.{value.rpartition('/')[2]}"
            if key == "$ref" and isinstance(value, str)
            else _moved(value, name)
            for key, value in part.items()
        }
    return [_moved(one, name) for one in part] if isinstance(part, list) else part


def _key(name: str) -> str:
    return f"filter.{name}"
