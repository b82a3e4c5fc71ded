"""A problem reads well, and its path survives being written down."""

import pytest

from sluicegate.errors import Path, Problem, path_from_pointer


@pytest.mark.parametrize(
    ("path", "pointer", "written"),
    [
        ((), "", ""),
        (("routes", 3, "match", "path"), "/routes/3/match/path", "routes[3].match.path"),
        (("labels", "a/b~c"), "/labels/a~1b~0c", 'labels["a/b~c"]'),
        (("errors", "codes", "no_route"), "/errors/codes/no_route", "errors.codes.no_route"),
    ],
)
def test_a_path_is_written_in_two_ways(path: Path, pointer: str, written: str) -> None:
    problem = Problem("x", path)

    assert problem.pointer == pointer
    assert problem.written_path == written
    assert path_from_pointer(pointer) == path


def test_a_problem_is_a_line_that_a_terminal_can_follow() -> None:
    problem = Problem(
        "there is no upstream `helo`",
        ("routes", 3, "upstream"),
        expected="one of: hello, orders",
        suggestion="hello",
        file="sluicegate.yaml",
        line=12,
        column=15,
    )

    assert str(problem) == (
        "sluicegate.yaml:12:15: routes[3].upstream: there is no upstream `helo`; "
        "expected one of: hello, orders; did you mean `hello`?"
    )
