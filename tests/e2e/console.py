"""The console blocks of a Markdown page, and a shell that runs them in order.

A comment above a block directs it: `<!-- not run: why -->`, `<!-- first: a command -->`,
`<!-- appended to FILE -->`. A block with a title is the content of that file.
"""

import re
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
FENCE = re.compile(
    r"(?:^<!-- (?P<direction>[^\n]*?) -->\n)?"
    r"^```(?P<language>\w+)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
INCLUDED = re.compile(r'^--8<-- "(.+)"$', re.MULTILINE)
HEREDOC = re.compile(r"<<'(\w+)'$")
# What is another each time: ids, times, process numbers.
PASSING = (
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)"), "TIME"),
    (re.compile(r"\b[0-9a-f]{12,}\b"), "ID"),
    (re.compile(r"\bprocess \d+"), "process N"),
    (re.compile(r"-ID-ID-0[01]"), "-ID-0N"),
    (re.compile(r" +"), " "),
)
SOON = 10.0


@dataclass(frozen=True)
class Block:
    """One fenced block and what directs it."""

    language: str
    text: str
    title: str | None
    direction: str

    def commands(self) -> Iterator[tuple[str, list[str]]]:
        """Each command with the lines it is said to print."""
        lines = iter(self.text.splitlines())
        command, shown = "", list[str]()
        for line in lines:
            if not line.startswith("$ "):
                shown.append(line)
                continue
            if command:
                yield command, shown
            command, shown = line[2:], []
            while command.endswith("\\"):
                command += "\n" + next(lines)
            here = HEREDOC.search(command)
            while here and not command.endswith(f"\n{here[1]}"):
                command += "\n" + next(lines)
        if command:
            yield command, shown


def blocks(page: Path) -> list[Block]:
    """The blocks of a page, in order."""
    return [
        Block(one["language"], one["text"], one["title"], one["direction"] or "")
        for one in FENCE.finditer(page.read_text(encoding="utf-8"))
    ]


@dataclass
class Shell:
    """Runs commands in a folder, with addresses that are free here in place of the page's.

    `places` has those of a running gateway, `written` those of documents.
    """

    folder: Path
    places: Mapping[str, str]
    written: Mapping[str, str]
    environment: Mapping[str, str]
    failures: list[str] = field(default_factory=list)

    def play(self, block: Block) -> None:
        """Do what a reader does with this block."""
        if block.direction.startswith("first: "):
            self.run(block.direction.removeprefix("first: "))
        if block.direction.startswith("appended to "):
            path = self.folder / block.direction.removeprefix("appended to ")
            path.write_text(path.read_text() + "\n" + _placed(block.text, self.written))
        elif block.title:
            (self.folder / block.title).write_text(_placed(_whole(block.text), self.written))
        elif block.language == "console" and not block.direction.startswith("not run: "):
            for command, shown in block.commands():
                self._expect(command, shown)

    def _expect(self, command: str, shown: list[str]) -> None:
        """A running gateway follows its file soon, not at once: it is asked until it agrees."""
        deadline = time.monotonic() + SOON
        while True:
            printed = self.run(command)
            if agree(shown, printed.splitlines()):
                return
            if time.monotonic() > deadline:
                self.failures.append(f"$ {command}\n{printed}\nbut the page has\n{shown}")
                return
            time.sleep(0.2)

    def run(self, command: str) -> str:
        """What a command prints, with the page's own addresses."""
        words = _placed(command, self.places).replace(".venv/bin/sluicegate", "sluicegate")
        done = subprocess.run(
            ["/bin/bash", "-c", words],
            cwd=self.folder,
            env=dict(self.environment),
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        printed = done.stdout + ("" if "curl" in command else done.stderr)
        for page, here in self.places.items():
            printed = printed.replace(here, page)
        return printed.replace(f"{self.folder}/", "")


def agree(shown: list[str], printed: list[str]) -> bool:
    """What is printed is what is shown; `…` and a page that shows nothing stand for any lines."""
    if not shown:
        return True
    pattern = "".join(
        r"(?:.*\n)*?" if line == "…" else re.escape(line) + r"\n" for line in _lasting(shown)
    )
    return bool(re.fullmatch(pattern, "".join(f"{line}\n" for line in _lasting(printed))))


def _lasting(lines: list[str]) -> list[str]:
    lasting = []
    for line in lines:
        text = line.rstrip()
        for passing, name in PASSING:
            text = passing.sub(name, text)
        lasting.append(text.strip())
    while lasting and not lasting[-1]:
        lasting.pop()
    return lasting


def _placed(text: str, places: Mapping[str, str]) -> str:
    for page, here in places.items():
        text = text.replace(page, here)
    return text


def _whole(text: str) -> str:
    return INCLUDED.sub(lambda name: (ROOT / name[1]).read_text(encoding="utf-8").rstrip(), text)
