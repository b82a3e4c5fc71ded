"""What every source file promises: short, free of panics, and of one machine's paths."""

import re
from pathlib import Path

import pytest

LONGEST = 500
SOURCE_FOLDERS = {"src", "crates", "tools", "tests", "benchmarks", "fuzz"}
SOURCE_SUFFIXES = {".py", ".pyi", ".rs", ".sh"}

PANIC = re.compile(r"\.unwrap\(|\.expect\(|\b(?:panic|todo|unimplemented)!")
# Comments, strings and characters, so that a word in them is not taken for code.
RUST_TEXT = re.compile(
    r'//[^\n]*|/\*.*?\*/|b?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?\'(?:\\.[^\']*|[^\'\\])\'', re.DOTALL
)
TEST_MODULE = re.compile(r"^#\[cfg\(test\)\]\s*mod \w+ \{.*?^\}", re.DOTALL | re.MULTILINE)

# Put together here, so that this file may keep its own promise.
MACHINE_PATHS = tuple(
    "/" + rest for rest in ("work/main", "work/shared", "tmp/notes", "tmp/target-")
)
INDEX_OPTION = re.compile(
    r"^--?(?:i|index-url|extra-index-url|find-links|trusted-host)\b", re.MULTILINE
)


def _blank(match: re.Match[str]) -> str:
    """Empty lines in place of a text, so that line numbers stay."""
    return "\n" * match[0].count("\n")


def _without_tests(rust: str) -> str:
    return TEST_MODULE.sub(_blank, RUST_TEXT.sub(_blank, rust))


def _is_rust_test(path: Path) -> bool:
    return bool({"tests", "benches", "examples"} & set(path.parts)) or path.name == "tests.rs"


@pytest.fixture(scope="session")
def sources(root: Path, files: list[Path]) -> list[Path]:
    """Every file with code in it."""
    return [
        path
        for path in files
        if path.relative_to(root).parts[0] in SOURCE_FOLDERS and path.suffix in SOURCE_SUFFIXES
    ]


def test_no_source_file_is_longer_than_500_lines(root: Path, sources: list[Path]) -> None:
    lengths = {str(path.relative_to(root)): path.read_text().count("\n") for path in sources}

    long = {name: lines for name, lines in lengths.items() if lines > LONGEST}

    assert not long, f"look for the seam and split by noun: {long}"


def test_nothing_in_the_data_plane_panics(root: Path, files: list[Path]) -> None:
    found = [
        f"{path.relative_to(root)}:{number}: {line.strip()}"
        for path in files
        if path.suffix == ".rs" and path.is_relative_to(root / "crates")
        if not _is_rust_test(path.relative_to(root))
        for number, line in enumerate(_without_tests(path.read_text()).splitlines(), start=1)
        if PANIC.search(line)
    ]

    assert not found, "a panic would end every connection of its thread:\n" + "\n".join(found)


def test_the_search_for_panics_knows_code_from_words_and_tests() -> None:
    rust = """
// panic! in a comment
let word = "x.unwrap()";
let quote = '"'; let value = reader.expect("a line");
#[cfg(test)]
mod tests {
    fn f() { g().unwrap(); }
}
"""

    found = [line for line in _without_tests(rust).splitlines() if PANIC.search(line)]

    assert len(found) == 1, found
    assert "reader.expect(" in found[0]


def test_no_file_names_a_folder_of_the_machine_it_was_written_on(
    root: Path, files: list[Path]
) -> None:
    named = [
        f"{path.relative_to(root)}: {word}"
        for path in files
        for word in MACHINE_PATHS
        if word.encode() in path.read_bytes()
    ]

    assert not named, named


def test_requirements_are_hashed_and_name_no_index(root: Path) -> None:
    for path in (root / "requirements").glob("*.txt"):
        text = path.read_text()
        pins = re.findall(r"^[a-z0-9].*?==[^\n]*(?:\n    --hash=\S+(?: \\)?)*", text, re.MULTILINE)

        assert pins, f"{path.name} locks nothing: run `make lock`"
        assert all("--hash=" in pin for pin in pins), path.name
        assert not INDEX_OPTION.search(text), path.name
        assert "://" not in text, path.name
