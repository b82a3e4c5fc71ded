#!/usr/bin/env python3
"""Turns an OpenAPI document into a Sluicegate document: one route for each operation.

npm pack @octokit/openapi
tar xzf octokit-openapi-*.tgz package/generated/api.github.com.json
python3 configure.py package/generated/api.github.com.json --output github.yaml
sluicegate check github.yaml
"""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from openapi import Operation, operations


def main() -> None:
    """Read, translate, write, and say what was left out."""
    arguments = read_arguments()
    routes, left_out = choose(operations(arguments.openapi))
    text = "\n".join(lines(routes, arguments.listen, arguments.upstream)) + "\n"
    if arguments.output:
        arguments.output.write_text(text)
    else:
        sys.stdout.write(text)
    for operation, first in left_out:
        print(
            f"left out {operation.id}: {operation.path} matches the same as {first.path}",
            file=sys.stderr,
        )
    print(f"{len(routes)} routes", file=sys.stderr)


def read_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("openapi", type=Path, help="the OpenAPI 3 document, as JSON")
    parser.add_argument("--output", type=Path, help="where to write (default: standard output)")
    parser.add_argument("--listen", default="127.0.0.1:8080", help="address of the gateway")
    parser.add_argument("--upstream", default="127.0.0.1:9000", help="address of the service")
    return parser.parse_args()


def choose(
    found: Iterable[Operation],
) -> tuple[list[Operation], list[tuple[Operation, Operation]]]:
    """Keep one operation of each method and shape; of the others, say which one stands for it."""
    chosen: dict[tuple[str, str], Operation] = {}
    left_out = []
    for operation in found:
        first = chosen.setdefault((operation.method, operation.shape), operation)
        if first is not operation:
            left_out.append((operation, first))
    return list(chosen.values()), left_out


def template(operation: Operation) -> str:
    """Write the path in Sluicegate's form.

    A parameter that may hold slashes takes all that is left, when it stands at the end. Elsewhere
    its slashes have to come encoded.
    """
    *before, last = operation.segments
    parts = [f"{{{part.name}}}" if part.name else part.text for part in before]
    if last.name is None:
        parts.append(last.text)
    elif last.holds_slashes:
        parts.append(f"{{*{last.name}}}")
    else:
        parts.append(f"{{{last.name}}}")
    return "/" + "/".join(parts)


def lines(routes: list[Operation], listen: str, upstream: str) -> Iterator[str]:
    """Write the document, one group of routes for each tag of the API."""
    yield "format: 1"
    yield ""
    yield "listeners:"
    yield f"  - {{id: http, address: {json.dumps(listen)}}}"
    yield ""
    yield "upstreams:"
    yield "  - id: github"
    yield f"    endpoints: [{{address: {json.dumps(upstream)}}}]"
    yield ""
    yield "routes:"
    for tag, group in groupby(sorted(routes, key=lambda one: one.tag), lambda one: one.tag):
        yield f"  # {tag}"
        for operation in group:
            yield f"  - id: {operation.id}"
            path = json.dumps(template(operation))
            yield f"    match: {{path: {path}, methods: [{operation.method}]}}"
            yield "    upstream: github"
            if operation.takes_encoded_slashes:
                yield "    encoded_slash: allow"
            yield f"    labels: {{tag: {operation.tag}}}"


if __name__ == "__main__":
    main()
