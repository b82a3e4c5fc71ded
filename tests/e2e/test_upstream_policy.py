"""Where upstreams may be: a fence that neither a document nor a name server gets around."""

from typing import Any

import pytest

from conftest import StartGateway, StartUpstream
from sluicegate.errors import ConfigError
from support.gateway import Gateway, forwarding
from support.raw import get

METADATA = [
    "169.254.169.254",
    "[fd00:ec2::254]",
    "100.100.100.200",
    "168.63.129.16",
    "[fe80::1]",
    "[::ffff:169.254.169.254]",
    "[64:ff9b::a9fe:a9fe]",
    "0.0.0.0",  # noqa: S104 - nothing is bound
    "[::]",
    "224.0.0.1",
]


def to(address: str, **policy: Any) -> dict[str, Any]:  # noqa: ANN401 - parts of a document
    """A document whose only upstream is at an address."""
    return forwarding(address, **({"upstream_policy": policy} if policy else {}))


def status(gateway: Gateway) -> int:
    """The answer to one request."""
    with gateway.connect() as client:
        return client.request(get()).status


@pytest.mark.spec("SE-23", "RT-20", "CF-20")
@pytest.mark.parametrize("address", METADATA)
@pytest.mark.parametrize("networks", [[], ["0.0.0.0/0", "::/0"]], ids=["no policy", "everything"])
def test_a_metadata_address_is_refused_unless_it_is_listed(
    start_gateway: StartGateway, address: str, networks: list[str]
) -> None:
    with pytest.raises(ConfigError) as refused:
        start_gateway(to(f"{address}:80", networks=networks))

    (problem,) = refused.value.problems
    assert problem.written_path == "upstreams[0].endpoints[0].address"
    assert problem.code == "address_not_allowed"


@pytest.mark.spec("SE-23", "RT-20")
@pytest.mark.parametrize(
    ("address", "policy"),
    [
        ("127.0.0.1:80", {"networks": ["10.0.0.0/8"]}),
        ("[::1]:80", {"networks": ["127.0.0.0/8"]}),
        ("169.254.7.8:80", {"networks": ["10.0.0.0/8"]}),
        ("api.example.com:80", {"hosts": ["*.internal"]}),
        ("127.0.0.1:8080", {"ports": [80, "9000-9999"]}),
    ],
)
def test_an_endpoint_outside_the_policy_is_refused(
    start_gateway: StartGateway, address: str, policy: dict[str, Any]
) -> None:
    with pytest.raises(ConfigError) as refused:
        start_gateway(to(address, **policy))

    (problem,) = refused.value.problems
    assert problem.written_path == "upstreams[0].endpoints[0].address"


@pytest.mark.spec("SE-23")
def test_private_and_loopback_addresses_need_no_policy(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    gateway = start_gateway(to(start_upstream().authority))

    assert status(gateway) == 200


@pytest.mark.spec("SE-23")
def test_an_address_that_a_name_stands_for_is_dropped_counted_and_shown(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    port = start_upstream().address[1]

    gateway = start_gateway(to(f"localhost:{port}", networks=["127.0.0.0/8"]))

    (upstream,) = gateway.status()["upstreams"]
    assert upstream["endpoints"] == [f"127.0.0.1:{port}"]
    assert upstream["refused"] == ["::1"]
    refused = gateway.metric("sluicegate_upstream_addresses_refused_total", upstream="origin")
    assert refused == 1
    assert gateway.engine.take_events() == [
        (
            "upstream_address_refused",
            '{"addresses":[{"address":"::1","host":"localhost"}],"upstream":"origin"}',
        )
    ]


@pytest.mark.spec("SE-23")
def test_a_name_without_an_allowed_address_is_503(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()

    gateway = start_gateway(to(f"localhost:{upstream.address[1]}", networks=["10.0.0.0/8"]))

    assert status(gateway) == 503
    assert upstream.requests == []


@pytest.mark.spec("SE-23")
def test_a_reload_with_a_narrower_policy_gives_addresses_up(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    name = f"localhost:{upstream.address[1]}"
    gateway = start_gateway(to(name))

    with gateway.connect() as client:
        before = client.request(get()).status
        gateway.reload(to(name, networks=["10.0.0.0/8"]))
        after = client.request(get()).status

    assert (before, after) == (200, 503)
    assert len(upstream.requests) == 1


@pytest.mark.spec("SE-23")
def test_instances_of_a_registry_pass_the_same_fence(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    gateway = start_gateway(to("127.0.0.1:9"))

    gateway.engine.tell(
        '{"kind": "endpoints", "upstream": "origin", "endpoints": ['
        '{"address": "169.254.169.254:80", "weight": 100},'
        f'{{"address": "{upstream.authority}", "weight": 1}}]}}'
    )

    assert gateway.status()["upstreams"][0]["endpoints"] == [upstream.authority]
    assert gateway.status()["upstreams"][0]["refused"] == ["169.254.169.254"]
    assert [status(gateway) for _ in range(3)] == [200] * 3
