#!/usr/bin/env python3
"""Makes a stand-in for the service of an OpenAPI document: files, and an nginx.conf to serve them.

    python3 stand_in.py api.github.com.json --folder stand-in --listen 127.0.0.1:9000
    nginx -p stand-in -c nginx.conf

Every operation answers with the status and the example of the document; the field X-Operation says
which one it was. nginx finds it by regular expressions of its own, so that it can bear witness
against a gateway in front. A path with a segment `missing` is answered 404.
"""

import argparse
import json
import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from openapi import Operation, Segment, operations

LARGE = "repos.get-content"
"""The operation that answers with more than any buffer on the way holds."""
LARGE_LINES = 200_000

HEAD = """\
daemon off;
pid nginx.pid;
error_log stderr warn;
worker_processes 1;
pcre_jit on;
events { worker_connections 4096; }
http {
  access_log off;
  types { application/json json; text/plain txt; }
  default_type application/json;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  keepalive_requests 1000000;
  keepalive_timeout 600s;
  client_max_body_size 64m;
  gzip on;
  gzip_types application/json text/plain;
  gzip_min_length 1000;
  gzip_vary on;
"""


def main() -> None:
    """Read, and write the folder."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("openapi", type=Path, help="the OpenAPI 3 document, as JSON")
    parser.add_argument("--folder", type=Path, default=Path("stand-in"), help="where to write")
    parser.add_argument("--listen", default="127.0.0.1:9000", help="address of nginx")
    arguments = parser.parse_args()
    found = operations(arguments.openapi)
    files = arguments.folder / "files"
    files.mkdir(parents=True, exist_ok=True)
    for operation in found:
        if operation.method == "GET" and operation.status == 200:
            (files / file_name(operation)).write_text(file_text(operation))
    (arguments.folder / "nginx.conf").write_text("\n".join(lines(found, arguments.listen)) + "\n")


def file_name(operation: Operation) -> str:
    """Name the file that holds the answer to a GET."""
    ending = "txt" if operation.id == LARGE or isinstance(operation.example, str) else "json"
    return f"{operation.id}.{ending}"


def file_text(operation: Operation) -> str:
    """Write the answer to a GET; no two are the same."""
    if operation.id == LARGE:
        return "".join(f"line {number} of a large file\n" for number in range(LARGE_LINES))
    if isinstance(operation.example, str):
        return f"{operation.id}\n{operation.example}"
    answer = {"operation": operation.id, "answer": operation.example}
    return json.dumps(answer, indent=2, ensure_ascii=False)


def lines(found: Iterable[Operation], listen: str) -> Iterator[str]:
    """Write nginx.conf; nginx takes the first expression that matches, so precise ones come first."""
    yield HEAD + "  server {"
    yield f"    listen {listen} backlog=1024;"
    yield '    location ~ "/missing(/|$)" {'
    yield """      return 404 '{"message": "Not Found"}';"""
    yield "    }"
    ordered = sorted(found, key=lambda one: ranks(one.segments))
    for _, group in groupby(ordered, lambda one: pattern(one.segments)):
        yield from location(list(group))
    yield "    location / {"
    yield """      return 418 '{"message": "no such operation"}';"""
    yield "    }"
    yield "  }"
    yield "}"


def ranks(segments: tuple[Segment, ...]) -> list[tuple[int, str]]:
    """Order literal segments before parameters, and those before one that takes all the rest."""
    found = [(1, "") if part.name else (0, part.text) for part in segments]
    if takes_the_rest(segments):
        found[-1] = (2, "")
    return found


def takes_the_rest(segments: tuple[Segment, ...]) -> bool:
    """Tell whether the last parameter may hold slashes."""
    return segments[-1].name is not None and segments[-1].holds_slashes


def pattern(segments: tuple[Segment, ...]) -> str:
    """Write the regular expression of a path."""
    parts = [re.escape(part.text) if part.name is None else "[^/]+" for part in segments]
    if takes_the_rest(segments):
        parts[-1] = ".+"
    return "^/" + "/".join(parts) + "$"


def location(group: list[Operation]) -> Iterator[str]:
    """Write what one path answers to each of its methods."""
    yield f'    location ~ "{pattern(group[0].segments)}" {{'
    yield "      root files;"
    for operation in group:
        method = "GET|HEAD" if operation.method == "GET" else operation.method
        yield f'      if ($request_method ~ "^({method})$") {{'
        yield f'        add_header X-Operation "{operation.id}" always;'
        yield '        add_header X-Asked "$request_method $request_uri" always;'
        yield f"        {answer(operation)}"
        yield "      }"
    methods = ", ".join(operation.method for operation in group)
    yield f"""      return 405 '{{"message": "not one of {methods}"}}';"""
    yield "    }"


def answer(operation: Operation) -> str:
    """Write the directive that gives an operation's answer."""
    if operation.method == "GET" and operation.status == 200:
        return f"rewrite ^ /{file_name(operation)} break;"
    if operation.status in (204, 205):
        return f"return {operation.status};"
    if operation.status >= 300:
        return f"return {operation.status} /elsewhere/{operation.id};"
    text = json.dumps({"operation": operation.id, "bytes": "$content_length"})
    return f"return {operation.status} '{text}';"


if __name__ == "__main__":
    main()
