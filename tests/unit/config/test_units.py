"""Durations, sizes and addresses as people write them."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluicegate.config.units import (
    HostPort,
    format_byte_size,
    format_duration,
    is_host,
    parse_byte_size,
    parse_duration,
)


@pytest.mark.parametrize(
    ("text", "duration"),
    [
        ("0s", timedelta(0)),
        ("7us", timedelta(microseconds=7)),
        ("250ms", timedelta(milliseconds=250)),
        ("3s", timedelta(seconds=3)),
        ("5m", timedelta(minutes=5)),
        ("8760h", timedelta(days=365)),
    ],
)
def test_a_duration_has_a_unit(text: str, duration: timedelta) -> None:
    assert parse_duration(text) == duration


@pytest.mark.parametrize(
    "text", ["", "5", 5, 5.5, "5 s", "-1s", "1.5s", "s", "5d", "8761h", True, None, "٣s", "5S"]
)
def test_a_duration_that_could_mean_anything_is_refused(text: object) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_duration(text)


@pytest.mark.parametrize(
    ("text", "size"),
    [("0B", 0), ("512B", 512), ("16KiB", 16_384), ("2MiB", 2 << 20), ("2MB", 2_000_000)],
)
def test_a_size_has_a_unit(text: str, size: int) -> None:
    assert parse_byte_size(text) == size


@pytest.mark.parametrize(
    "text", ["", "5", 5, -5, "5kb", "-1B", "1.5MiB", "2000000GiB", False, [], "5 MiB"]
)
def test_a_size_that_could_mean_anything_is_refused(text: object) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_byte_size(text)


@given(st.integers(0, 365 * 86_400 * 1_000_000))
def test_what_is_written_of_a_duration_reads_back(microseconds: int) -> None:
    duration = timedelta(microseconds=microseconds)

    assert parse_duration(format_duration(duration)) == duration


@given(st.integers(0, 1 << 50))
def test_what_is_written_of_a_size_reads_back(size: int) -> None:
    assert parse_byte_size(format_byte_size(size)) == size


@given(st.one_of(st.text(), st.integers(), st.floats(), st.none(), st.lists(st.text())))
def test_no_value_breaks_a_parser(value: object) -> None:
    for parse in (parse_duration, parse_byte_size, HostPort.parse):
        try:
            parse(value)
        except ValueError:
            continue


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("127.0.0.1:8080", "127.0.0.1", 8080),
        ("0.0.0.0:0", "0.0.0.0", 0),  # noqa: S104 - text only, nothing listens
        ("[::1]:80", "::1", 80),
        ("[2001:DB8:0::1]:443", "2001:db8::1", 443),
        ("api.internal:65535", "api.internal", 65_535),
        ("my_service:80", "my_service", 80),
    ],
)
def test_an_address_is_a_host_and_a_port(text: str, host: str, port: int) -> None:
    address = HostPort.parse(text)

    assert (address.host, address.port) == (host, port)
    assert HostPort.parse(str(address)) == address


@pytest.mark.parametrize(
    "text",
    [
        "",
        ":80",
        "host",
        "host:",
        "host:http",
        "host:65536",
        "host:-1",
        "::1:80",
        "[::1]",
        "[::g]:80",
        "256.0.0.1:80",
        "1.2.3:80",
        "a b:80",
        "a..b:80",
        "-a:80",
        "http://a:80",
        "a:80:90",
        80,
        None,
    ],
)
def test_an_address_that_leads_nowhere_is_refused(text: object) -> None:
    with pytest.raises(ValueError, match=r"."):
        HostPort.parse(text)


@pytest.mark.parametrize("name", ["a", "a.b.", "xn--bcher-kva.example", "10.0.0.1", "_dns.a"])
def test_a_host_is_a_name_or_an_address(name: str) -> None:
    assert is_host(name)


@pytest.mark.parametrize("name", ["", ".", "a..b", "a-.b", "*.a", "ü.de", "a" * 64, "10.0.0.256"])
def test_what_dns_could_not_resolve_is_no_host(name: str) -> None:
    assert not is_host(name)
