"""Sample requests: what a URL means, and what a file of them may say."""

import pytest

from sluicegate.config.samples import SampleRequest, read_samples
from sluicegate.config.source import Source
from sluicegate.errors import ConfigError


@pytest.mark.parametrize(
    ("url", "host", "target"),
    [
        ("/a/../b?c=%2F", "localhost", "/a/../b?c=%2F"),
        ("//admin/x", "localhost", "//admin/x"),
        ("http://a.example:8080/x?y#z", "a.example:8080", "/x?y"),
        ("https://a.example", "a.example", "/"),
        ("https://a.example?x=1", "a.example", "/?x=1"),
    ],
)
def test_a_url_is_taken_as_it_is(url: str, host: str, target: str) -> None:
    request = SampleRequest(url=url)

    assert (request.host, request.target) == (host, target)


def test_a_host_header_wins() -> None:
    assert SampleRequest(url="http://a/x", headers={"host": "b"}).host == "b"


def test_mistakes_in_samples_have_their_lines() -> None:
    source = Source.parse(
        "requests:\n"
        "  - name: a\n"
        "    request: {url: hello, method: get}\n"
        "    expect: {outcom: reject, status: 5}\n",
        file="samples.yaml",
    )

    with pytest.raises(ConfigError) as caught:
        read_samples(source)

    named = sorted((problem.line, problem.code) for problem in caught.value.problems)
    assert named == [(3, "bad_method"), (4, "out_of_range"), (4, "unknown_field")]
