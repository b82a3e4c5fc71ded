"""What the two scripts beside this file read of an OpenAPI document: its operations."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

METHODS = ("get", "post", "put", "patch", "delete")
_PARAMETER = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True)
class Segment:
    """One part of a path: literal text, or a parameter (`name`) that may hold slashes."""

    text: str
    name: str | None = None
    holds_slashes: bool = False


@dataclass(frozen=True)
class Operation:
    """One method of one path; `id` is unique in the document."""

    id: str
    method: str
    path: str
    segments: tuple[Segment, ...]
    tag: str
    status: int
    """What it answers when all is well."""
    example: Any
    """The body of that answer as the document shows it; None when there is none."""
    takes_encoded_slashes: bool
    """A parameter of it may hold `%2F`."""

    @property
    def shape(self) -> str:
        """Its path without the names of parameters: two of one shape match the same requests."""
        return "/".join("{}" if part.name else part.text for part in self.segments)


def operations(path: Path) -> list[Operation]:
    """Read the operations of an OpenAPI 3 document, in its order."""
    document = json.loads(path.read_bytes())
    return [
        _operation(document, template, method, body)
        for template, methods in document["paths"].items()
        for method, body in methods.items()
        if method in METHODS
    ]


def _operation(document: Any, template: str, method: str, body: Any) -> Operation:
    parameters = [_follow(document, one) for one in body.get("parameters", ())]
    in_path = {one["name"]: one for one in parameters if one["in"] == "path"}
    segments = tuple(_segments(template, in_path))
    status, example = _answer(document, body["responses"])
    return Operation(
        id=body["operationId"].replace("/", "."),
        method=method.upper(),
        path=template,
        segments=segments,
        tag=body.get("tags", ["other"])[0],
        status=status,
        example=example,
        takes_encoded_slashes=any(part.holds_slashes for part in segments)
        or any("%2F" in one.get("description", "") for one in in_path.values()),
    )


def _segments(template: str, parameters: dict[str, Any]) -> Iterator[Segment]:
    for text in template.removeprefix("/").split("/"):
        names = _PARAMETER.findall(text)
        known = [parameters.get(name, {}) for name in names]
        holds_slashes = any(one.get("x-multi-segment") for one in known)
        # Two parameters in one segment (`{base}...{head}`) become one that holds both.
        name = re.sub(r"\W", "_", "_".join(names)) or None
        yield Segment(text, name, holds_slashes)


def _answer(document: Any, responses: dict[str, Any]) -> tuple[int, Any]:
    codes = sorted(int(code) for code in responses if code.isdigit())
    status = next((code for code in codes if 200 <= code < 400 and code != 304), 200)
    response = _follow(document, responses.get(str(status), {}))
    for content in response.get("content", {}).values():
        for example in content.get("examples", {}).values():
            return status, _follow(document, example).get("value")
    return status, None


def _follow(document: Any, part: Any) -> Any:
    while "$ref" in part:
        reference = part["$ref"]
        part = document
        for step in reference.removeprefix("#/").split("/"):
            part = part[step]
    return part
