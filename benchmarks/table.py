"""Tables that read well in a terminal and are Markdown."""

from collections.abc import Sequence


def table(titles: Sequence[str], rows: Sequence[Sequence[str]], *, names: int) -> str:
    """Lay out rows; the first `names` columns are words, the others figures."""
    lines = [titles, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(titles))]
    rule = [
        "-" * width if column < names else "-" * (width - 1) + ":"
        for column, width in enumerate(widths)
    ]
    cells = [
        [
            cell.ljust(width) if column < names else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        for line in lines
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in [cells[0], rule, *cells[1:]])
