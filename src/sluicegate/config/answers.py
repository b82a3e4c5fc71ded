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
        default_factory=dict, description="Its header fields."
    )
    body: str = Field(default="", max_length=1 << 20, description="Its body.")

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
    """A redirect to another place."""

    status: Literal[301, 302, 303, 307, 308] = Field(
        default=308, description="Which redirect; 308 keeps the method and is permanent."
    )
    location: Annotated[str, AfterValidator(_read_location)] = Field(
        description="Where to: a URL or a path.", examples=["https://other.example/x"]
    )


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
