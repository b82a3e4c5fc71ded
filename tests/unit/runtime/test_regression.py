"""Samples are compared with what would happen, field by field."""

from typing import Any

import pytest

from sluicegate.config.samples import Expectation, Sample, SampleRequest
from sluicegate.engine import Explanation
from sluicegate.runtime.regression import as_request, differences

FORWARDED = Explanation.from_raw(
    {
        "normal_path": "/a",
        "route": "orders",
        "outcome": {"kind": "forward", "upstream": "orders"},
        "upstream_request": {
            "method": "GET",
            "target": "/v2/a",
            "headers": [["Host", "a.example"], ["X-Env", "gray"]],
        },
    }
)
REJECTED = Explanation.from_raw(
    {"route": None, "outcome": {"kind": "reject", "status": 404, "code": "no_route"}}
)


def sample(**expect: Any) -> Sample:  # noqa: ANN401 - fields of an expectation
    request = SampleRequest(url="/a")
    return Sample(name="x", request=request, expect=Expectation.model_validate(expect))


@pytest.mark.parametrize(
    ("expect", "explained", "different"),
    [
        ({}, FORWARDED, []),
        ({"route": "orders", "outcome": "forward", "upstream": "orders"}, FORWARDED, []),
        ({"upstream_path": "/v2/a", "upstream_headers": {"x-env": "gray"}}, FORWARDED, []),
        ({"upstream_headers": {"X-Secret": None}}, FORWARDED, []),
        ({"upstream_headers": {"X-Env": None}}, FORWARDED, ["upstream_headers.X-Env"]),
        ({"upstream_headers": {"X-Env": "prod"}}, FORWARDED, ["upstream_headers.X-Env"]),
        ({"route": "none", "status": 404, "code": "no_route"}, REJECTED, []),
        ({"route": "orders", "status": 200}, REJECTED, ["route", "status"]),
        ({"upstream_path": "/v2/a"}, REJECTED, ["upstream_path"]),
    ],
)
@pytest.mark.spec("RT-36")
def test_only_what_is_expected_is_compared(
    expect: dict[str, Any], explained: Explanation, different: list[str]
) -> None:
    found = differences(sample(**expect), explained)

    assert [one.what for one in found] == different


def test_a_sample_becomes_the_request_as_it_stands() -> None:
    request = as_request(
        SampleRequest(method="POST", url="http://a/x/../y", headers={"Host": "b", "X": "1"})
    )

    assert (request.method, request.target, request.host) == ("POST", "/x/../y", "b")
    assert request.headers == (("X", "1"),)
