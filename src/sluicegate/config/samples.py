"""A file of sample requests and what is expected of each (RT-36)."""

from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, ValidationError, model_validator

from sluicegate.config.complaints import problems_of
from sluicegate.config.model import Model, WholeNumber, wrong
from sluicegate.config.names import FieldName, FieldValue, Id, Method
from sluicegate.config.source import Source
from sluicegate.config.units import HostPort
from sluicegate.errors import ConfigError


class SampleRequest(Model):
    """A request to try."""

    method: Method = Field(default="GET", description="Its method.")
    url: str = Field(
        min_length=1, description="`https://api.example.com/x?v=2`, or only path and query."
    )
    headers: dict[FieldName, FieldValue] = Field(
        default_factory=dict, description="Its header fields; `Host` wins over the URL's."
    )
    body: str | None = Field(default=None, description="Its body.")
    listener: Id | None = Field(
        default=None, description="Where it comes in; the first listener when left out."
    )

    @model_validator(mode="after")
    def _url_has_a_path(self) -> Self:
        try:
            parts = urlsplit(self.url)
        except ValueError as error:
            raise wrong(f"`{self.url}` is not a URL", field="url", code="bad_url") from error
        if not (parts.netloc or self.url.startswith("/")):
            raise wrong(
                f"`{self.url}` is neither a URL nor a path",
                field="url",
                code="bad_url",
                expected="https://host/path or /path",
            )
        return self

    @property
    def host(self) -> str:
        """What stands in its Host header."""
        named = [value for name, value in self.headers.items() if name.lower() == "host"]
        if named:
            return named[0]
        # `//admin/x` is a path here, as it is in a request.
        return "localhost" if self.url.startswith("/") else urlsplit(self.url).netloc

    @property
    def target(self) -> str:
        """Path and query as they go over the wire: nothing is tidied up."""
        if self.url.startswith("/"):
            return self.url
        rest = self.url.partition("://")[2].partition("#")[0]
        start = min((at for at in (rest.find("/"), rest.find("?")) if at >= 0), default=len(rest))
        found = rest[start:]
        return found if found.startswith("/") else f"/{found}"


class Expectation(Model):
    """What must become of a request; what is left out may be anything."""

    route: str | None = Field(default=None, description="Id of the route; `none` for no route.")
    outcome: Literal["forward", "respond", "redirect", "reject"] | None = Field(
        default=None, description="How it ends."
    )
    status: WholeNumber | None = Field(
        default=None, ge=100, le=599, description="Status, unless it is forwarded."
    )
    code: str | None = Field(default=None, description="Code of the reject.")
    location: str | None = Field(default=None, description="Where a redirect leads.")
    upstream: str | None = Field(default=None, description="Id of the upstream it goes to.")
    upstream_path: str | None = Field(
        default=None, description="Path and query that the upstream sees."
    )
    upstream_headers: dict[FieldName, FieldValue | None] = Field(
        default_factory=dict,
        description="Header fields that the upstream sees; `null` for one it must not see.",
    )


class Sample(Model):
    """One request and what is expected."""

    name: str = Field(min_length=1, description="What it shows, in words.")
    request: SampleRequest = Field(description="The request.")
    peer: HostPort = Field(
        default=HostPort("127.0.0.1", 40000), description="Address and port it comes from."
    )
    expect: Expectation = Field(description="What must become of it.")


class SampleFile(Model):
    """A fixed set of requests, tried against every candidate."""

    requests: tuple[Sample, ...] = Field(min_length=1, description="The samples, in order.")


def read_samples(source: Source) -> SampleFile:
    """Understand a file of samples.

    Raises:
        ConfigError: with every mistake in it.
    """
    if source.problems:
        raise ConfigError(source.problems)
    try:
        return SampleFile.model_validate(source.value)
    except ValidationError as error:
        raise ConfigError(map(source.locate, problems_of(error, SampleFile))) from None
