"""What a route looks at in a request."""

from typing import Annotated, Self

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from sluicegate.config.model import Flag, Model, wrong
from sluicegate.config.names import (
    FieldName,
    HostPattern,
    Id,
    Method,
    PathTemplate,
    Regex,
)


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _number(value: object) -> str:
    return "[many]" if isinstance(value, list | tuple) else "[one]"


Paths = Annotated[
    Annotated[PathTemplate, Tag("[one]")]
    | Annotated[tuple[PathTemplate, ...], Field(min_length=1, max_length=1000), Tag("[many]")],
    Discriminator(_number),
]
"""One path template or several."""

Values = Annotated[
    Annotated[str, Tag("[one]")]
    | Annotated[tuple[str, ...], Field(min_length=1, max_length=1000), Tag("[many]")],
    Discriminator(_number),
]
"""One value or several of which one is enough."""


class Predicate(Model):
    """A test of one header, query parameter or cookie."""

    name: str = Field(min_length=1, max_length=200, description="Its name.")
    value: Values | None = Field(
        default=None, description="It must have exactly this value, or one of these."
    )
    regex: Regex | None = Field(default=None, description="Its value must match this pattern.")
    present: Flag | None = Field(
        default=None, description="It must be there (`true`) or must not be (`false`)."
    )

    @model_validator(mode="after")
    def _one_test(self) -> Self:
        tests = [name for name in ("value", "regex", "present") if getattr(self, name) is not None]
        if len(tests) != 1:
            given = " and ".join(f"`{name}`" for name in tests) or "none of them"
            raise wrong(
                f"a test has exactly one of `value`, `regex` and `present`; here is {given}",
                code="not_exactly_one",
            )
        return self


class HeaderPredicate(Predicate):
    """A test of one request header; its name is case-insensitive."""

    name: FieldName = Field(description="Name of the header.")


class Match(Model):
    """The requests a route takes; every part given must hold."""

    host: Annotated[
        tuple[HostPattern, ...],
        BeforeValidator(_listed, json_schema_input_type=str | list[str]),
    ] = Field(
        default=(), description="Host names, `*.example.com` included; any host when left out."
    )
    listeners: tuple[Id, ...] = Field(
        default=(), description="Listeners it is on; all that may show it when left out."
    )
    path: Paths = Field(
        description="Template: literal segments, `{param}`, and at the end `**` or `{*rest}`; "
        "or several of them."
    )
    methods: tuple[Method, ...] = Field(
        default=(), description="Methods; any when left out. `GET` admits `HEAD`."
    )
    headers: tuple[HeaderPredicate, ...] = Field(
        default=(), description="Tests of headers; all must hold."
    )
    query: tuple[Predicate, ...] = Field(
        default=(), description="Tests of query parameters; all must hold."
    )
    cookies: tuple[Predicate, ...] = Field(
        default=(), description="Tests of cookies; all must hold."
    )

    @property
    def paths(self) -> tuple[str, ...]:
        """Its path templates, however many were written."""
        return (self.path,) if isinstance(self.path, str) else self.path
