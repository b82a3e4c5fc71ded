"""Files of denylists: what a line means, and what is wrong with it."""

import pytest

from sluicegate.config.denylist import Entry, canonical, lists_of, parse


@pytest.mark.parametrize(
    ("line", "entry"),
    [
        ("203.0.113.7", Entry("address", "203.0.113.7")),
        ("  198.51.100.0/24 ; SBL1  ", Entry("address", "198.51.100.0/24")),
        ("2001:db8::/32 # a comment", Entry("address", "2001:db8::/32")),
        ("address 203.0.113.7", Entry("address", "203.0.113.7")),
        ("device d#1;x", Entry("device", "d#1;x")),
        ("user u-1 until 2030-01-31T12:00:00Z", Entry("user", "u-1", 1_896_091_200)),
        ("app\ta\tuntil\t2030-01-31T13:00:00+01:00", Entry("app", "a", 1_896_091_200)),
    ],
)
def test_a_line_is_an_entry(line: str, entry: Entry) -> None:
    assert parse(f"\n# nothing\r\n{line}\r\n", file="denied.txt") == ([entry], [])


@pytest.mark.spec("SE-26")
def test_every_line_that_is_wrong_is_named() -> None:
    lines = {
        1: ("example.com", "no address"),
        3: ("10.0.0.1/8", "the network is 10.0.0.0/8"),
        4: ("  10.0.0.0/33", "no address"),
        5: ("device", "no address"),
        6: ("user u-1 for 10m", "`for 10m`"),
        7: ("user u-1 until tomorrow", "2030-01-31T12:00:00Z"),
        8: ("user u-1 until 2030-01-31T12:00:00", "no time zone"),
        9: ("203.0.113.7 203.0.113.8", "`203.0.113.8`"),
    }
    text = "\n".join(lines.get(number, ("192.0.2.1", ""))[0] for number in range(1, 10))

    _, problems = parse(text, file="denied.txt")

    assert [problem.line for problem in problems] == list(lines)
    for problem, (line, why) in zip(problems, lines.values(), strict=True):
        assert why in problem.message
        assert problem.excerpt == line
        assert problem.place.startswith("denied.txt:")
    assert problems[2].column == 3


@pytest.mark.parametrize(
    ("written", "compared"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("203.0.113.7/32", "203.0.113.7"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("10.0.0.0/8", "10.0.0.0/8"),
        ("2001:DB8::7", "2001:db8::/64"),
        ("2001:db8::/32", "2001:db8::/32"),
    ],
)
def test_one_address_is_compared_as_what_it_stands_for(written: str, compared: str) -> None:
    assert canonical("address", written) == compared
    assert canonical("user", written) == written


def test_filters_with_one_id_are_one_list() -> None:
    def use(**config: object) -> dict[str, object]:
        return {"name": "denylist", "config": config}

    lists = lists_of(
        {
            "entry": [use(file="denied.txt"), {"name": "request_id"}],
            "route_defaults": {"filters": [use(by=["user"])]},
            "routes": [{"filters": [use(by=["app"]) | {"id": "apps"}]}, {}],
        }
    )

    found = {name: (one.file, sorted(one.by)) for name, one in lists.items()}
    assert found == {"denylist": ("denied.txt", ["address", "user"]), "apps": (None, ["app"])}
