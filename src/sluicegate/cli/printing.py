"""How results and mistakes look in a terminal."""

import functools
import json
import re
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec

import typer
from rich.console import Console
from rich.text import Text

from sluicegate.errors import ConfigError, Problem, SluicegateError

OK, FAILED, WRONG = 0, 1, 2
_WORD = re.compile(r"""("[^"]*"|'[^']*'|[^\s,\]}#]+)""")
_Parameters = ParamSpec("_Parameters")


def ends_with_a_code(command: Callable[_Parameters, None]) -> Callable[_Parameters, None]:
    """Turn what a command raises into its message and exit code."""

    @functools.wraps(command)
    def run(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except ConfigError as error:
            stderr = error_console()
            for problem in error.problems:
                stderr.print(rendered(problem))
            raise typer.Exit(WRONG) from None
        except SluicegateError as error:
            error_console().print(Text.assemble(("error", "bold red"), f": {error}"))
            raise typer.Exit(FAILED) from None

    return run


def console() -> Console:
    """Standard output; width and colour as the terminal has them."""
    return Console(highlight=False, soft_wrap=True)


def error_console() -> Console:
    """Standard error."""
    return Console(stderr=True, highlight=False, soft_wrap=True)


def print_json(value: Any) -> None:  # noqa: ANN401 - JSON
    """Print JSON for programs: no colour, no wrapping."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False, default=str))


def rendered(problem: Problem) -> Text:
    """Draw a problem: the sentence, the place, the source line with a caret, the way out."""
    colour = "red" if problem.severity == "error" else "yellow"
    text = Text.assemble(
        (problem.severity, f"bold {colour}"),
        (f"[{problem.code}]", colour),
        (f": {_sentence(problem)}", "bold"),
    )
    gutter = len(str(problem.line)) if problem.line else 1
    text.append(f"\n{' ' * gutter}--> ", "blue").append(problem.place)
    if problem.path:
        text.append("  ").append(problem.written_path, "cyan")
    if problem.excerpt is not None and problem.line is not None:
        _append_excerpt(text, problem, gutter, colour)
    if problem.expected:
        text.append(f"\n{' ' * gutter} = ", "blue").append("expected: ", "bold")
        text.append(problem.expected)
    if problem.suggestion:
        text.append(f"\n{' ' * gutter} = ", "blue").append("did you mean: ", "bold")
        text.append(problem.suggestion, "green")
    return text.append("\n")


def counted(count: int, noun: str) -> str:
    """`1 route`, `2 routes`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def summary(problems: Sequence[Problem]) -> Text:
    """One line about a list of problems."""
    errors = sum(problem.severity == "error" for problem in problems)
    warnings = len(problems) - errors
    parts = [counted(errors, "error")] if errors else []
    parts += [counted(warnings, "warning")] if warnings else []
    return Text(", ".join(parts), "bold red" if errors else "yellow")


def _sentence(problem: Problem) -> str:
    # A bare "is empty" needs its subject; the others carry one.
    if problem.message.startswith("is ") and problem.path:
        return f"`{problem.path[-1]}` {problem.message}"
    return problem.message


def _append_excerpt(text: Text, problem: Problem, gutter: int, colour: str) -> None:
    line, excerpt = problem.excerpt or "", str(problem.line)
    shown = line.expandtabs(4)
    before = line[: (problem.column or 1) - 1].expandtabs(4)
    word = _WORD.match(line, (problem.column or 1) - 1)
    carets = "^" * max(1, len(word.group()) if word else 1)
    text.append(f"\n{' ' * gutter} |\n{excerpt} | ", "blue").append(shown)
    text.append(f"\n{' ' * gutter} | ", "blue").append(" " * len(before) + carets, f"bold {colour}")
