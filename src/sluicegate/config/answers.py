"""Answers the gateway gives itself: fixed responses, redirects, the form of errors."""

import re
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from sluicegate.config.model import Model, WholeNumber, wrong
from sluicegate.config.names import FieldName, FieldValue

_BODILESS = (204, 205, 304)
_URL = re.compile(r"https?://[!#$%&'()*+,./:;=?@\[\]_~A-Za-z0-9-]+", re.ASCII)


def _read_location(text: str) -> str:
    if not text or any(char <= " " or char == "\x7f" for char in text):
        raise wrong(
            "a location is a URL or a path, without spaces or control characters",
            code="bad_location",
        )
    return text


def _read_type_base(text: str) -> str:
    if _URL.fullmatch(text):
        return text
    raise wrong(
        f"`{text}` is not a URL",
        code="bad_value",
        expected="the beginning of a URL that the code completes, "
        "such as https://api.example.com/errors/",
    )


class Respond(Model):
    """A fixed response, without an upstream."""

    status: WholeNumber = Field(default=200, ge=200, le=599, description="Status of the response.")
    headers: dict[FieldName, FieldValue] = Field(
        default_factory=dict,
        description="Its header fields; values may have the placeholders of `header_rewrite`.",
    )
    content_type: FieldValue | None = Field(
        default=None,
        description="Its Content-Type; text/plain when the body has placeholders.",
        examples=["application/json"],
    )
    body: str = Field(
        default="",
        max_length=1 << 20,
        description="Its body. May have the placeholders of `header_rewrite`; the content type "
        "says how values are escaped: plain text, HTML, XML or JSON.",
    )

    @model_validator(mode="after")
    def _status_allows_a_body(self) -> Self:
        if self.body and self.status in _BODILESS:
            raise wrong(
                f"`status` {self.status} has no body, but `body` is given",
                field="body",
                code="contradiction",
            )
        return self


class Redirect(Model):
    """A redirect to another place: a whole `location`, or the parts of the address that change."""

    status: Literal[301, 302, 303, 307, 308] = Field(
        default=308, description="Which redirect; 308 keeps the method and is permanent."
    )
    location: Annotated[str, AfterValidator(_read_location)] | None = Field(
        default=None,
        description="Where to: a URL or a path. May have placeholders such as {host}, {path}, "
        "{query} and {param.NAME}, but none that lets a client choose the host.",
        examples=["https://other.example/x", "https://{host}{path}?{query}"],
    )
    scheme: Literal["http", "https"] | None = Field(
        default=None, description="Another scheme; the port goes unless `host` names one."
    )
    host: Annotated[str, AfterValidator(_read_location)] | None = Field(
        default=None,
        description="Another host, with a port if it needs one; may have {host}.",
        examples=["www.example.com"],
    )
    path: Annotated[str, AfterValidator(_read_location)] | None = Field(
        default=None,
        description="Another path; may have the parameters of the route as {param.NAME}.",
        examples=["/orders/{param.id}"],
    )
    path_prefix: Annotated[str, AfterValidator(_read_location)] | None = Field(
        default=None,
        description="What takes the place of everything before `/**` in the route's path.",
        examples=["/v2"],
    )
    keep_query: bool | None = Field(
        default=None,
        description="The query goes with the client; by default with parts, not with `location`.",
    )

    @model_validator(mode="after")
    def _leads_somewhere_in_one_way(self) -> Self:
        parts = [
            name
            for name in ("scheme", "host", "path", "path_prefix")
            if getattr(self, name) is not None
        ]
        if (self.location is not None) == bool(parts):
            raise wrong(
                "a redirect has a `location` or parts of one, not both"
                if parts
                else "a redirect leads nowhere",
                code="one_target",
                expected="`location`, or some of `scheme`, `host`, `path` and `path_prefix`",
            )
        if self.path is not None and self.path_prefix is not None:
            raise wrong(
                "`path` and `path_prefix` are both given",
                field="path_prefix",
                code="contradiction",
                expected="one of the two",
            )
        return self


class ErrorTemplate(Model):
    """The body of error responses in your own words."""

    content_type: FieldValue = Field(
        default="text/plain; charset=utf-8", description="Its Content-Type."
    )
    body: str = Field(
        max_length=1 << 16,
        description="Text with {code} {status} {title} {detail} {request_id} filled in.",
    )


class ErrorText(Model):
    """What one reject says; left out, its own default stands."""

    status: WholeNumber | None = Field(default=None, ge=400, le=599, description="Its status.")
    title: str | None = Field(default=None, max_length=200, description="Its short sentence.")
    detail: str | None = Field(default=None, max_length=2000, description="Its longer sentence.")


class ErrorFormat(Model):
    """How the gateway words its own error responses."""

    format: Literal["problem", "code-message", "template"] = Field(
        default="problem",
        description="`problem`: RFC 9457; `code-message`: two fields; `template`: your own text.",
    )
    type_base: Annotated[str, AfterValidator(_read_type_base)] | None = Field(
        default=None,
        max_length=500,
        description="Beginning of the `type` of a problem, which the code completes; "
        "`about:blank` when left out.",
        examples=["https://api.example.com/errors/"],
    )
    template: ErrorTemplate | None = Field(
        default=None, description="The text of the format `template`."
    )
    codes: dict[str, ErrorText] = Field(
        default_factory=dict, description="Other status and text, by code of the reject."
    )

    @model_validator(mode="after")
    def _each_format_has_its_own(self) -> Self:
        if self.format == "template" and self.template is None:
            raise wrong(
                "`format` is `template`, but there is no `template`",
                field="format",
                code="contradiction",
                expected="a `template` with a `body`",
            )
        if self.format != "problem" and self.type_base is not None:
            raise wrong(
                "only the format `problem` has a type",
                field="type_base",
                code="contradiction",
                expected="`format: problem`, or no `type_base`",
            )
        if self.format != "template" and self.template is not None:
            raise wrong(
                f"there is a `template`, but `format` is `{self.format}`",
                field="template",
                code="contradiction",
                expected="`format: template`, or no `template`",
            )
        return self
