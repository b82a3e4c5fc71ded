"""Files, environment and secrets: whatever is wrong with them is a sentence."""

import json
from pathlib import Path

import pytest

from sluicegate.config import loader
from sluicegate.config.candidate import examine
from sluicegate.config.loader import (
    content_digest,
    fingerprint,
    load,
    process_settings,
    resolve_secrets,
)
from sluicegate.config.source import Source
from sluicegate.errors import ConfigError, Problem

SECRET_SCHEMAS = {
    "key_auth": {
        "type": "object",
        "properties": {
            "header": {"type": "string"},
            "key": {"type": "string", "format": "secret"},
            "more": {"type": "array", "items": {"$ref": "#/$defs/More"}},
        },
        "$defs": {
            "More": {"properties": {"key": {"anyOf": [{"format": "secret"}, {"type": "null"}]}}}
        },
    }
}


def problem_of(path: Path) -> Problem:
    problems = load(path).problems
    assert len(problems) == 1
    return problems[0]


def test_a_file_is_read_with_its_name(document: Path) -> None:
    candidate = load(document)

    assert candidate.problems == ()
    assert candidate.source.file == str(document)


def test_a_file_that_is_missing_or_no_file_is_named(tmp_path: Path) -> None:
    assert "No such file" in problem_of(tmp_path / "gone.yaml").message
    assert problem_of(tmp_path).code == "unreadable"


def test_bytes_that_are_not_utf8_are_named_at_their_place(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(b"format: 1\nroutes: # \xc3\xbc\n  - \xff\n")

    problem = problem_of(path)

    assert (problem.code, problem.line, problem.column) == ("encoding", 3, 5)


def test_a_file_of_more_than_5_mb_is_refused_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loader, "LARGEST_FILE", 100)
    path = tmp_path / "x.yaml"
    path.write_text("# " + "x" * 200)

    assert problem_of(path).code == "too_large"


def test_the_file_limit_is_five_megabytes() -> None:
    assert loader.LARGEST_FILE == 5_000_000


def test_json_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"format": 1, "routes": []}, indent="\t"))

    assert load(path).errors == []


def test_the_command_line_wins_over_the_environment() -> None:
    environment = {"SLUICEGATE_THREADS": "3", "SLUICEGATE_GRACE": "7s", "OTHER": "x"}

    settings = process_settings({"threads": 2, "grace": None}, environment)

    assert settings.threads == 2
    assert settings.grace.total_seconds() == 7
    assert settings.drain_delay.total_seconds() == 5
    assert str(settings.operations) == "127.0.0.1:9090"


def test_an_empty_address_turns_the_operations_port_off() -> None:
    assert process_settings({}, {"SLUICEGATE_OPERATIONS": ""}).operations is None
    assert process_settings({"operations": ""}, {}).operations is None


@pytest.mark.parametrize(
    ("given", "environment", "name"),
    [
        ({"threads": 0}, {}, "--threads"),
        ({}, {"SLUICEGATE_THREADS": "many"}, "SLUICEGATE_THREADS"),
        ({"drain_delay": "5"}, {}, "--drain-delay"),
        ({}, {"SLUICEGATE_OPERATIONS": "9090"}, "SLUICEGATE_OPERATIONS"),
    ],
)
def test_a_wrong_setting_is_named_as_it_was_given(
    given: dict[str, object], environment: dict[str, str], name: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        process_settings(given, environment)

    assert [problem.file for problem in caught.value.problems] == [name]


def with_config(config: str) -> Source:
    filters = f"[{{name: key_auth, config: {config}}}]"
    return Source.parse(
        "format: 1\nroutes:\n  - id: a\n    match: {path: /a}\n    respond: {}\n"
        f"    filters: {filters}\n"
    )


def test_secrets_are_resolved_apart_from_the_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "key").write_text("from a file\n")
    monkeypatch.setenv("A_KEY", "from the environment")
    source = with_config(
        f"{{header: 'env:NOT_A_SECRET', key: 'env:A_KEY', more: [{{key: 'file:{tmp_path}/key'}}]}}"
    )

    secrets = resolve_secrets(examine(source).document, SECRET_SCHEMAS)

    assert secrets == {
        "env:A_KEY": b"from the environment",
        f"file:{tmp_path}/key": b"from a file",
    }


@pytest.mark.parametrize(
    ("reference", "says"),
    [
        ("env:NOT_SET_ANYWHERE", "not set"),
        ("file:/nowhere/key", "No such file"),
        ("file:", "by reference"),
        ("hunter2", "by reference"),
    ],
)
def test_a_reference_that_leads_nowhere_is_named_without_any_value(
    reference: str, says: str
) -> None:
    document = examine(with_config(f"{{key: '{reference}'}}")).document

    with pytest.raises(ConfigError, match=says) as caught:
        resolve_secrets(document, SECRET_SCHEMAS)

    problem = caught.value.problems[0]
    assert problem.written_path == "routes[0].filters[0].config.key"
    assert "hunter2" not in str(problem)


def test_a_path_is_followed_through_a_symlink_in_its_middle(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.yaml").write_text("format: 1\n")
    (tmp_path / "data").symlink_to("one")
    before = fingerprint(tmp_path / "data" / "x.yaml")
    (tmp_path / "next").symlink_to("two")
    (tmp_path / "next").rename(tmp_path / "data")

    after = fingerprint(tmp_path / "data" / "x.yaml")

    assert before is not None
    assert after is not None
    assert before != after


def test_a_path_that_leads_nowhere_has_no_fingerprint(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")

    assert fingerprint(tmp_path / "gone") is None
    assert fingerprint(tmp_path / "loop") is None
    assert content_digest(tmp_path / "gone") is None


def test_only_the_loader_reads_the_environment() -> None:
    package = Path(loader.__file__).parents[1]
    readers = {
        path.name
        for path in package.rglob("*.py")
        if "os.environ" in path.read_text() or "getenv" in path.read_text()
    }

    assert readers <= {"loader.py"}
