"""`trace_context`: what the upstream sees of a trace."""

import base64
import re

import pytest

from conftest import StartGateway, StartUpstream
from support.raw import get

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
SPAN = "00f067aa0ba902b7"
PARENT = f"00-{TRACE}-{SPAN}-01"
SHAPE = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-(0[0-3])")
ENTRY = [{"name": "request_id"}, {"name": "trace_context"}]


@pytest.mark.spec("OB-40")
def test_a_request_outside_of_every_trace_begins_one(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    gateway = start_gateway(upstream, entry=ENTRY)

    with gateway.connect() as client:
        client.request(get())
        client.request(get())

    found = [SHAPE.fullmatch(request.fields["traceparent"]) for request in upstream.requests]
    assert all(found)
    traces = [match[1] for match in found if match]
    assert traces[0] != traces[1]
    assert "0" * 32 not in traces
    assert [record["trace_id"] for record in gateway.records(2)] == traces


def test_a_trace_goes_on_with_a_span_of_the_gateway(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    gateway = start_gateway(upstream, entry=ENTRY)

    with gateway.connect() as client:
        client.request(get("/", f"traceparent: {PARENT}", "tracestate: a=1, b=2"))

    fields = upstream.requests[0].fields
    match = SHAPE.fullmatch(fields["traceparent"])
    assert match
    assert match[1] == TRACE
    assert match[2] != SPAN
    assert match[3] == "01"
    assert fields["tracestate"] == "a=1, b=2"
    assert gateway.record()["trace_id"] == TRACE


@pytest.mark.parametrize(
    "lines",
    [
        [f"traceparent: 00-{'0' * 32}-{SPAN}-01"],
        [f"traceparent: 00-{TRACE}-{'0' * 16}-01"],
        [f"traceparent: 00-{TRACE.upper()}-{SPAN}-01"],
        [f"traceparent: ff-{TRACE}-{SPAN}-01"],
        [f"traceparent: 00-{TRACE}-{SPAN}-01-more"],
        ["traceparent: nonsense"],
        [f"traceparent: {PARENT}", f"traceparent: {PARENT}"],
    ],
    ids=["no trace", "no span", "upper case", "version ff", "too long", "nonsense", "twice"],
)
def test_a_trace_that_is_none_is_replaced_with_its_state(
    start_gateway: StartGateway, start_upstream: StartUpstream, lines: list[str]
) -> None:
    upstream = start_upstream()
    gateway = start_gateway(upstream, entry=ENTRY)

    with gateway.connect() as client:
        client.request(get("/", *lines, "tracestate: a=1"))

    fields = upstream.requests[0].fields
    match = SHAPE.fullmatch(fields["traceparent"])
    assert match
    assert match[1] != TRACE
    assert "tracestate" not in fields


def test_a_later_version_is_read_by_its_known_beginning(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    gateway = start_gateway(upstream, entry=ENTRY)

    with gateway.connect() as client:
        client.request(get("/", f"traceparent: 01-{TRACE}-{SPAN}-01-what-comes"))

    match = SHAPE.fullmatch(upstream.requests[0].fields["traceparent"])
    assert match
    assert match[1] == TRACE


def test_lines_of_state_become_one_and_too_many_members_none(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    gateway = start_gateway(upstream, entry=ENTRY)
    many = ",".join(f"k{number}=1" for number in range(33))

    with gateway.connect() as client:
        client.request(get("/", f"traceparent: {PARENT}", "tracestate: a=1", "tracestate: b=2"))
        client.request(get("/", f"traceparent: {PARENT}", f"tracestate: {many}"))

    assert upstream.requests[0].fields["tracestate"] == "a=1,b=2"
    assert "tracestate" not in upstream.requests[1].fields


@pytest.mark.parametrize(("sample", "flags"), [(0, "00"), (1, "01")])
def test_new_traces_are_sampled_as_configured_and_others_keep_their_mark(
    start_gateway: StartGateway, start_upstream: StartUpstream, sample: int, flags: str
) -> None:
    upstream = start_upstream()
    gateway = start_gateway(
        upstream, entry=[{"name": "trace_context", "config": {"sample": sample}}]
    )

    with gateway.connect() as client:
        client.request(get())
        client.request(get("/", f"traceparent: {PARENT[:-1]}0"))
        client.request(get("/", f"traceparent: {PARENT}"))

    marks = [request.fields["traceparent"][-2:] for request in upstream.requests]
    assert marks == [flags, "00", "01"]


def test_the_clients_answer_says_nothing_of_the_trace(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    gateway = start_gateway(start_upstream(), entry=ENTRY)

    with gateway.connect() as client:
        answer = client.request(get())

    assert "traceparent" not in answer.fields


# The example of openzipkin/b3-propagation, “Single Header”.
B3_TRACE, B3_SPAN = "80f198ee56343ba864fe8b2a57d3eff7", "e457b5a2e4d86bd1"
# As SkyWalking's Java agent writes it, in version 3 of its protocol.
SW8_TRACE = "a4ec6fc8ccab4bb4b682064698cc97e6.74.16218381104550009"
SW8 = (
    "1-YTRlYzZmYzhjY2FiNGJiNGI2ODIwNjQ2OThjYzk3ZTYuNzQuMTYyMTgzODExMDQ1NTAwMDk="
    "-YTRlYzZmYzhjY2FiNGJiNGI2ODIwNjQ2OThjYzk3ZTYuNzQuMTYyMTgzODExMDQ1NTAwMDg=-2"
    "-b25lbW9yZS1h-ZTFkMmZiYjYzYmJhNDMwNDk5YWY4OTVjMDQwZTMyZmVAMTkyLjE2OC4xLjEwMQ=="
    "-L29uZW1vcmUtYS9nZXQ=-MTkyLjE2OC4xLjEwMjo4MA=="
)
EVERY_FORMAT = {"propagators": ["b3", "b3_multi", "sw8", "w3c"]}


@pytest.mark.spec("PX-22", "PX-53", "OB-44", "OB-45")
@pytest.mark.parametrize(
    ("lines", "trace"),
    [
        ([], None),
        ([f"b3: {B3_TRACE}-{B3_SPAN}-1"], B3_TRACE),
        ([f"b3: {B3_TRACE[16:]}-{B3_SPAN}"], "0" * 16 + B3_TRACE[16:]),
        ([f"X-B3-TraceId: {B3_TRACE}", f"X-B3-SpanId: {B3_SPAN}"], B3_TRACE),
        ([f"traceparent: {PARENT}"], TRACE),
        (["b3: nonsense", "sw8: 1-2-3", f"traceparent: {PARENT}"], TRACE),
        (["b3: nonsense", "sw8: 1-2-3", "traceparent: x", "X-B3-TraceId: y"], None),
    ],
    ids=["none", "b3", "b3 of 64 bits", "b3 multi", "w3c", "one is sound", "none is sound"],
)
def test_one_trace_goes_on_in_every_format(
    start_gateway: StartGateway,
    start_upstream: StartUpstream,
    lines: list[str],
    trace: str | None,
) -> None:
    upstream = start_upstream()
    use = {"name": "trace_context", "config": EVERY_FORMAT}
    gateway = start_gateway(upstream, entry=[use])

    with gateway.connect() as client:
        client.request(get("/", *lines))

    fields = upstream.requests[0].fields
    sent = SHAPE.fullmatch(fields["traceparent"])
    assert sent
    assert trace in (None, sent[1])
    single = fields["b3"].split("-")
    sw8 = fields["sw8"].split("-")
    assert (single[0], single[1]) == (sent[1], sent[2])
    assert (fields["x-b3-traceid"], fields["x-b3-spanid"]) == (sent[1], sent[2])
    assert base64.b64decode(sw8[1]).decode() == sent[1]
    assert len(sw8) == 8
    assert gateway.record()["trace_id"] == sent[1]


@pytest.mark.spec("OB-45", "PX-22")
def test_a_trace_of_sky_walking_keeps_its_name(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    use = {"name": "trace_context", "config": {"propagators": ["sw8", "w3c"], "service": "edge"}}
    gateway = start_gateway(upstream, entry=[use])

    with gateway.connect() as client:
        client.request(get("/", f"sw8: {SW8}"))

    fields = upstream.requests[0].fields
    sample, trace, _, span, *names = fields["sw8"].split("-")
    assert (sample, base64.b64decode(trace).decode(), span) == ("1", SW8_TRACE, "0")
    assert base64.b64decode(names[0]) == b"edge"
    assert base64.b64decode(names[3]) == b"a.test"
    record = gateway.record()
    assert record["foreign_trace_id"] == SW8_TRACE
    assert record["trace_id"] in fields["traceparent"]
