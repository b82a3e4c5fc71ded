"""Pydantic's errors in our words: what is wrong, what would be right, did you mean."""

from difflib import get_close_matches
from functools import cache
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from sluicegate.config.foreign import foreign_fields, without_echoes
from sluicegate.config.model import Model
from sluicegate.errors import Path, Problem

_KINDS = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "string_type": "text",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "fields",
    "model_type": "fields",
    "model_attributes_type": "fields",
}
_BOUNDS = {
    "greater_than_equal": ("ge", "at least"),
    "less_than_equal": ("le", "at most"),
    "greater_than": ("gt", "more than"),
    "less_than": ("lt", "less than"),
}
_LONGEST_SHOWN = 60
_LONGEST_LIST = 30


def problems_of(error: ValidationError, model: type[Model]) -> list[Problem]:
    """Translate every error of a validation of `model`."""
    schema = _schema_of(model)
    found = [
        problem
        for details in error.errors(include_url=False)
        # A list counts as too short when its items are wrong: that is said of the items.
        if not (details["type"] == "too_short" and details["input"])
        for problem in foreign_fields(details) or [_problem(details, schema)]
    ]
    return without_echoes(found)


@cache
def _schema_of(model: type[Model]) -> dict[str, Any]:
    # Pydantic takes longer to make it than to check a usual document.
    return model.model_json_schema()


def closest(word: str, words: list[str]) -> str | None:
    """The known word that was probably meant, if one is near."""
    by_lower = {known.lower(): known for known in words}
    found = get_close_matches(word.lower(), list(by_lower), n=1, cutoff=0.6)
    return by_lower[found[0]] if found else None


def one_of(words: list[str]) -> str | None:
    """`one of: a, b, c`, or nothing when the list would not be read."""
    if not words or len(words) > _LONGEST_LIST:
        return None
    return words[0] if len(words) == 1 else f"one of: {', '.join(words)}"


def _problem(details: ErrorDetails, schema: dict[str, Any]) -> Problem:
    kind, given = details["type"], details["input"]
    path: Path = tuple(step for step in details["loc"] if not str(step).startswith("["))
    here = _resolve(schema, path)
    match kind:
        case "config":
            problem = _own(path, details.get("ctx", {}))
        case "missing":
            message = f"`{path[-1]}` is missing"
            problem = Problem(message, path, code="missing_field", expected=_describe(schema, path))
        case "extra_forbidden":
            problem = _unknown_field(path, schema)
        case "literal_error":
            problem = _unknown_value(path, given, here)
        case _ if path == ("format",):
            problem = _unknown_value(path, given, here)
        case "int_parsing_size":
            message = f"{_shown(given)} is out of range"
            problem = Problem(message, path, code="out_of_range", expected=_range(here))
        case _ if kind in _BOUNDS:
            problem = _out_of_bounds(path, details, here)
        case _ if kind in _KINDS:
            message = f"{_shown(given)} is not {_KINDS[kind]}"
            problem = Problem(message, path, code="wrong_type")
        case _:
            problem = _other(path, details)
    return problem


def _own(path: Path, context: dict[str, Any]) -> Problem:
    return Problem(
        context["message"],
        (*path, context["field"]) if context["field"] else path,
        code=context["code"],
        expected=context["expected"],
        suggestion=context["suggestion"],
    )


def _unknown_field(path: Path, schema: dict[str, Any]) -> Problem:
    name = str(path[-1])
    known = list(_resolve(schema, path[:-1]).get("properties", {}))
    suggestion = closest(name, known)
    return Problem(
        f"there is no field `{name}` here",
        path,
        code="unknown_field",
        expected=None if suggestion else one_of(known),
        suggestion=suggestion,
    )


def _unknown_value(path: Path, given: object, schema: dict[str, Any]) -> Problem:
    values = schema.get("enum", [schema["const"]] if "const" in schema else [])
    words = [str(value) for value in values]
    suggestion = closest(given, words) if isinstance(given, str) else None
    if path == ("format",):
        return Problem(
            f"format {_shown(given)} is not known to this release",
            path,
            code="unknown_format",
            expected="format: 1",
        )
    return Problem(
        f"{_shown(given)} is not a value of `{path[-1]}`",
        path,
        code="unknown_value",
        expected=one_of(words),
        suggestion=suggestion,
    )


def _out_of_bounds(path: Path, details: ErrorDetails, schema: dict[str, Any]) -> Problem:
    key, words = _BOUNDS[details["type"]]
    limit = details.get("ctx", {})[key]
    if schema.get("type") == "string":
        # A size: the limit is in bytes and the user wrote a unit.
        limit = f"{limit}B"
    return Problem(
        f"{_shown(details['input'])} is out of range",
        path,
        code="out_of_range",
        expected=f"{words} {limit}",
    )


def _range(schema: dict[str, Any]) -> str | None:
    lowest, highest = schema.get("minimum"), schema.get("maximum")
    return None if lowest is None or highest is None else f"{lowest} to {highest}"


def _other(path: Path, details: ErrorDetails) -> Problem:
    kind, context = details["type"], details.get("ctx", {})
    if kind in {"too_short", "string_too_short"}:
        least = context["min_length"]
        return Problem("is empty", path, code="too_short", expected=f"at least {least}")
    if kind in {"too_long", "string_too_long"}:
        return Problem(
            "is too long", path, code="too_long", expected=f"at most {context['max_length']}"
        )
    return Problem(details["msg"], path, code="invalid")


def _shown(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    try:
        text = str(value)
    except ValueError:
        # Python does not write integers of thousands of digits.
        return "a number of thousands of digits"
    return f"`{text[:_LONGEST_SHOWN]}…`" if len(text) > _LONGEST_SHOWN else f"`{text}`"


def _describe(schema: dict[str, Any], path: Path) -> str | None:
    fields = _resolve(schema, path[:-1]).get("properties", {})
    description: str | None = fields.get(path[-1], {}).get("description")
    return f"`{path[-1]}`: {description.rstrip('.')}" if description else None


def _resolve(schema: dict[str, Any], path: Path) -> dict[str, Any]:
    """The part of a JSON Schema that describes `path`; empty when there is none."""
    part = _follow(schema, schema)
    for step in path:
        if isinstance(step, int):
            part = part.get("items", {})
        else:
            rest = part.get("additionalProperties")
            part = part.get("properties", {}).get(step) or (rest if isinstance(rest, dict) else {})
        part = _follow(schema, part)
    return part


def _follow(schema: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    while True:
        if "$ref" in part:
            part = schema.get("$defs", {}).get(part["$ref"].rpartition("/")[2], {})
        elif "oneOf" in part:
            part = part["oneOf"][-1]
        elif "anyOf" in part:
            part = next((one for one in part["anyOf"] if one.get("type") != "null"), {})
        else:
            return part
