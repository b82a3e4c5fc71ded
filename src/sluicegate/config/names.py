"""Names that documents are made of: ids, header names, methods, hosts, paths."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field, WithJsonSchema

from sluicegate.config.model import wrong
from sluicegate.config.units import is_host

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", re.ASCII)
# One parameter may have literal text around it, as in `{name}.json`.
_PARAMETER = re.compile(r"[^{}*?#]*\{[A-Za-z_][A-Za-z0-9_]*\}[^{}*?#]*", re.ASCII)
_NAME_OF_PARAMETER = re.compile(r"\{\*?([A-Za-z_][A-Za-z0-9_]*)\}", re.ASCII)
_CATCH_ALL = re.compile(r"\*\*|\{\*[A-Za-z_][A-Za-z0-9_]*\}", re.ASCII)
_PRINTABLE = re.compile(r"[\x21-\x7e]+", re.ASCII)
_FIELD_VALUE = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f]*")
KNOWN_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT")


def _read_id(text: str) -> str:
    if not _ID.fullmatch(text):
        raise wrong(
            f"`{text}` cannot be an id",
            code="bad_id",
            expected="1 to 100 letters, digits, dots, dashes or underscores, "
            "the first a letter or digit",
        )
    return text


def _read_field_name(text: str) -> str:
    if not _TOKEN.fullmatch(text):
        raise wrong(
            f"`{text}` is not a header name", code="bad_header", expected="an RFC 9110 token"
        )
    return text


def _read_field_value(text: str) -> str:
    if not _FIELD_VALUE.fullmatch(text):
        raise wrong("a header value cannot hold control characters", code="bad_header")
    return text


def _read_method(text: str) -> str:
    if not _TOKEN.fullmatch(text):
        raise wrong(f"`{text}` is not a method", code="bad_method", expected="an RFC 9110 token")
    # Methods are case-sensitive (RFC 9110, section 9.1): `get` would never match anything.
    if text.upper() in KNOWN_METHODS and text not in KNOWN_METHODS:
        raise wrong(
            f"methods are case-sensitive: `{text}` would match no usual client",
            code="bad_method",
            suggestion=text.upper(),
        )
    return text


def _read_host_pattern(text: str) -> str:
    name = text.removeprefix("*.")
    if ":" in text and is_host(text.rpartition(":")[0]):
        raise wrong(
            "a host is matched without its port",
            code="bad_host",
            suggestion=text.rpartition(":")[0],
        )
    if "*" in name:
        raise wrong(
            f"`{text}`: a `*` can only be the whole first label",
            code="bad_host",
            expected="a host name such as api.example.com or *.example.com",
        )
    if not is_host(name):
        raise wrong(
            f"`{text}` is not a host name",
            code="bad_host",
            expected="a host name such as api.example.com or *.example.com",
        )
    return text


def _read_template(text: str) -> str:
    if not text.startswith("/"):
        raise wrong(f"`{text}` does not start with `/`", code="bad_template", suggestion=f"/{text}")
    segments = text[1:].split("/")
    names: set[str] = set()
    for position, segment in enumerate(segments):
        _read_segment(segment, is_last=position == len(segments) - 1)
        found = _NAME_OF_PARAMETER.search(segment)
        if found:
            name = found[1]
            if name in names:
                raise wrong(f"the parameter `{name}` stands twice", code="bad_template")
            names.add(name)
    return text


def _read_segment(segment: str, *, is_last: bool) -> None:
    if _CATCH_ALL.fullmatch(segment):
        if not is_last:
            raise wrong(f"`{segment}` can only be the last segment", code="bad_template")
        return
    if _PARAMETER.fullmatch(segment):
        return
    if any(char in segment for char in "{}*"):
        raise wrong(
            f"`{segment}` is neither a literal segment nor a parameter",
            code="bad_template",
            expected="literal segments, {name} or text{name}text, at the end ** or {*name}",
        )
    if any(char in segment for char in "?#"):
        raise wrong(
            f"`{segment}`: the query is no part of a path",
            code="bad_template",
            expected="a path; `match.query` looks at parameters",
        )
    if segment and not _PRINTABLE.fullmatch(segment):
        raise wrong(f"`{segment}` has characters that must be percent-encoded", code="bad_template")
    if segment in {".", ".."}:
        raise wrong(
            f"`{segment}` is removed from every request path, so this never matches",
            code="bad_template",
        )


def _read_regex(text: str) -> str:
    # Only the engine knows its own syntax; an empty one is a mistake in any.
    if not text:
        raise wrong("an empty pattern matches everything", code="bad_regex")
    return text


Id = Annotated[
    str,
    AfterValidator(_read_id),
    WithJsonSchema({"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"}),
]
FieldName = Annotated[str, AfterValidator(_read_field_name), Field(examples=["X-Env"])]
FieldValue = Annotated[str, AfterValidator(_read_field_value), Field(examples=["text/plain"])]
Method = Annotated[str, AfterValidator(_read_method), Field(examples=["GET"])]
HostPattern = Annotated[str, AfterValidator(_read_host_pattern), Field(examples=["*.example.com"])]
PathTemplate = Annotated[str, AfterValidator(_read_template), Field(examples=["/orders/{id}"])]
Regex = Annotated[str, AfterValidator(_read_regex), Field(examples=["[0-9]+"])]
