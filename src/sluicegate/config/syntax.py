"""What the YAML parser says of a text it cannot read, and what helps."""

from ruamel.yaml.error import MarkedYAMLError

from sluicegate.errors import Problem

_HINTS = {
    "a tab cannot indent": "spaces for indentation",
    "cannot start any token": "quotes around a value that begins with @, ` or %",
    "block mapping": "the same indentation as the lines around",
    "block collection": "the same indentation as the lines around",
    "mapping values are not allowed": "quotes around a value that contains `: `, "
    "or less indentation",
    "end of stream": "a complete file: it seems to be cut off",
    "flow node": "a complete file, with every bracket closed",
    "flow sequence": "a closing ]",
    "flow mapping": "a closing }",
    "<document start>": "a file with one document",
}


def syntax_problem(error: MarkedYAMLError, text: str) -> Problem:
    """Translate an error that has a place."""
    mark = error.problem_mark or error.context_mark
    message = (error.problem or "not YAML").replace("did not find expected", "did not find the")
    if error.context:
        message = f"{message} {error.context}"
        if error.context_mark and mark and error.context_mark.line != mark.line:
            message += f" that began in line {error.context_mark.line + 1}"
    if mark and _is_tab(text, mark.line, mark.column):
        message = "a tab cannot indent"
    expected = next((hint for sign, hint in _HINTS.items() if sign in message), None)
    return Problem(
        message,
        code="syntax",
        expected=expected,
        line=mark.line + 1 if mark else 1,
        column=mark.column + 1 if mark else 1,
    )


def _is_tab(text: str, line: int, column: int) -> bool:
    lines = text.split("\n", line + 1)
    return line < len(lines) and lines[line][column : column + 1] == "\t"


def character_problem(error: Exception, text: str) -> Problem:
    """Translate an error about a character; it knows a position at most."""
    position = getattr(error, "position", 0) or 0
    reason = getattr(error, "reason", None) or "this text cannot be read"
    before = text[:position]
    return Problem(
        f"a character that YAML does not allow ({reason})",
        code="syntax",
        line=before.count("\n") + 1,
        column=position - before.rfind("\n"),
    )
