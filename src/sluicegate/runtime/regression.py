"""Compares what would happen to a sample request with what is expected."""

from dataclasses import dataclass

from sluicegate.config.samples import Sample, SampleRequest
from sluicegate.engine import Explanation, Request


@dataclass(frozen=True, slots=True)
class Difference:
    """One expectation that does not hold."""

    what: str
    expected: str
    actual: str


def as_request(sample: SampleRequest) -> Request:
    """Make the request to explain out of a sample."""
    headers = tuple((n, v) for n, v in sample.headers.items() if n.lower() != "host")
    return Request(sample.method, sample.target, sample.host, headers, sample.body, sample.listener)


def differences(sample: Sample, explained: Explanation) -> list[Difference]:
    """Every expectation of a sample that does not hold."""
    expect, outcome, sent = sample.expect, explained.outcome, explained.upstream_request
    pairs = [
        ("route", expect.route, explained.route),
        ("outcome", expect.outcome, outcome.kind),
        ("status", expect.status, outcome.status),
        ("code", expect.code, outcome.code),
        ("location", expect.location, outcome.location),
        ("upstream", expect.upstream, outcome.upstream),
        ("upstream_path", expect.upstream_path, sent.target if sent else None),
    ]
    found = [
        Difference(what, str(wanted), _shown(actual))
        for what, wanted, actual in pairs
        if wanted is not None and str(wanted) != _shown(actual)
    ]
    for name, wanted in expect.upstream_headers.items():
        values = [v for n, v in sent.headers if n.lower() == name.lower()] if sent else []
        actual = ", ".join(values) if values else None
        if wanted != actual:
            found.append(Difference(f"upstream_headers.{name}", _shown(wanted), _shown(actual)))
    return found


def _shown(value: object) -> str:
    return "none" if value is None else str(value)
