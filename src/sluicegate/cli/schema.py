"""`sluicegate schema`: the JSON Schema of documents and filters."""

from typing import Annotated

import typer

from sluicegate import engine
from sluicegate.cli.options import AsJson
from sluicegate.cli.printing import ends_with_a_code, print_json
from sluicegate.config.complaints import closest, one_of
from sluicegate.config.schema import document_schema
from sluicegate.errors import ConfigError, Problem


@ends_with_a_code
def schema(
    filter_name: Annotated[
        str | None,
        typer.Option("--filter", metavar="NAME", help="Only the fields of one filter."),
    ] = None,
    as_json: AsJson = True,
) -> None:
    """Print the JSON Schema of documents, for editors and forms; it is always JSON.

    Exit code 0: printed. 2: there is no such filter.

    Example: `sluicegate schema > sluicegate.schema.json`
    """
    del as_json
    filters = engine.filter_schemas()
    if filter_name is None:
        print_json(document_schema(filters))
        return
    if filter_name not in filters:
        known = sorted(filters)
        problem = Problem(
            f"there is no filter `{filter_name}`",
            code="unknown_filter",
            expected=one_of(known),
            suggestion=closest(filter_name, known),
            file="--filter",
        )
        raise ConfigError([problem])
    print_json(filters[filter_name])
