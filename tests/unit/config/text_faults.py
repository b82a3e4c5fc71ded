"""Faults in the text of a document: its bytes, its YAML or its JSON."""

import json
from dataclasses import dataclass

HEAD = """\
format: 1
listeners:
  - id: http
    address: "127.0.0.1:8080"
upstreams:
  - id: shop
    endpoints:
      - address: "127.0.0.1:9001"
routes:
  - id: list
    match: {path: "/list/{id}", methods: [GET]}
    upstream: shop
"""
NEXT = HEAD.count("\n") + 1
"""The line of what is added to the end."""
VALUE = {
    "format": 1,
    "upstreams": [{"id": "shop", "endpoints": [{"address": "127.0.0.1:9001"}]}],
    "routes": [{"id": "list", "match": {"path": "/list"}, "upstream": "shop"}],
}
JSON = json.dumps(VALUE, indent=1) + "\n"


@dataclass(frozen=True)
class TextFault:
    """A text with a fault, the lines that may be named (None: the file), and its code."""

    name: str
    content: bytes
    lines: tuple[int | None, ...]
    code: str
    file: str = "sluicegate.yaml"


def _added(name: str, text: str, code: str = "syntax", *, lines: int = 1, at: int = 0) -> TextFault:
    """Something at the end of the document; the fault is in line `at` of it."""
    named = tuple(range(NEXT + at, NEXT + at + lines))
    return TextFault(name, (HEAD + text).encode(), named, code)


def _changed(name: str, old: str, new: str, code: str = "syntax", *, after: int = 0) -> TextFault:
    """Something else in place of what is there once; the fault may be named `after` lines later."""
    assert HEAD.count(old) == 1
    line = HEAD[: HEAD.index(old)].count("\n") + 1
    lines = tuple(range(line, line + after + 1))
    return TextFault(name, HEAD.replace(old, new).encode(), lines, code)


def _json(name: str, old: str, new: str, at: str, code: str = "syntax") -> TextFault:
    """Something else in JSON; the fault is in the line that ends with `at` in the new text."""
    assert JSON.count(old) == 1
    text = JSON.replace(old, new)
    line = text[: text.index(at) + len(at)].count("\n") + 1
    return TextFault(name, text.encode(), (line,), code, "sluicegate.json")


def _laughs(times: int) -> str:
    lines = ['x0: &x0 ["ha", "ha", "ha", "ha", "ha", "ha", "ha", "ha", "ha"]']
    lines += [f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 9)}]" for n in range(1, times)]
    return "\n".join(lines) + "\n"


TEXT_FAULTS: tuple[TextFault, ...] = (
    # Bytes.
    TextFault("nothing at all", b"", (1,), "empty"),
    TextFault("white space", b" \n\n \n", (1,), "empty"),
    TextFault("no text", b"\x7fELF\x02\x01\x01\x00\x00", (1,), "syntax"),
    TextFault("a byte that is not UTF-8", HEAD.encode() + b"# \xff\n", (NEXT,), "encoding"),
    TextFault("half a character", HEAD.encode() + b"# \xe2\x82", (NEXT,), "encoding"),
    TextFault("Latin-1", HEAD.replace("shop", "größe").encode("latin-1"), (6,), "encoding"),
    TextFault("UTF-16", HEAD.encode("utf-16"), (1,), "encoding"),
    TextFault("UTF-16 without a mark", HEAD.encode("utf-16-le"), (None,), "encoding"),
    TextFault("UTF-32", HEAD.encode("utf-32"), (1,), "encoding"),
    TextFault("a surrogate as UTF-8", HEAD.encode() + b"# \xed\xa0\x80\n", (NEXT,), "encoding"),
    TextFault("more than 5 MB", HEAD.encode() + b"#" * 5_000_000, (None,), "too_large"),
    _added("a null byte", "# \x00\n"),
    _added("an escape character", "# \x1b[31mred\n"),
    _added("a bell in a text", 'metrics: {prefix: "a\x07"}\n'),
    # Words in the wrong place.
    _changed("a tab for indentation", "    address", "\taddress"),
    _changed("too little indentation", "    upstream: shop", "   upstream: shop"),
    _changed("too much indentation", "    upstream: shop", "      upstream: shop", after=1),
    _changed("a missing colon", "upstreams:", "upstreams", after=1),
    _changed("a missing space", "    upstream: shop", "    upstream:shop", after=1),
    _changed("two colons", "upstream: shop", "upstream: shop: x"),
    _changed(
        "a quote that does not end",
        'address: "127.0.0.1:8080"',
        'address: "127.0.0.1:8080',
        after=4,
    ),
    _changed("a bracket that does not end", "methods: [GET]}", "methods: [GET}"),
    _changed("a brace that does not end", "methods: [GET]}", "methods: [GET]", after=1),
    _changed("a bracket too many", "methods: [GET]}", "methods: [GET]]}"),
    _changed("a comma for a dash", "  - id: list", "  , id: list"),
    _changed("a reserved sign", "id: list", "id: @list"),
    _changed("a backquote", "id: list", "id: `list`"),
    _changed("a sign of a directive", "id: list", "id: %list"),
    _changed("an unknown escape", '"127.0.0.1:8080"', '"127.0.0.1\\q:8080"'),
    _changed("a list where a key stands", "format: 1", "? [a, b]\n: 1", "bad_key", after=1),
    _added("a mapping where a key stands", "{a: b}: 1\n", "bad_key"),
    _added("cut off in a row", "  - {id: x, match: {pa"),
    _added("cut off in a text", '  - id: "x'),
    _added("a second document", "---\nformat: 1\n", lines=2),
    _added("a directive in the middle", "%YAML 1.2\n"),
    _added("a key twice", "format: 1\n", "duplicate_key"),
    _added("a key twice below", "metrics:\n  prefix: a\n  prefix: b\n", "duplicate_key", at=2),
    _added("a key twice in a row", "metrics: {prefix: a, prefix: a}\n", "duplicate_key"),
    # Tags, anchors, depth.
    _added("a tag of Python", "metrics: !!python/object:os.system {}\n", "bad_tag"),
    _added("a tag of one's own", "metrics: !mine {prefix: a}\n", "bad_tag"),
    _added("a tag that is not true", "metrics: {prefix: !!int abc}\n", "bad_tag"),
    _added("binary", "metrics: {prefix: !!binary aGk=}\n", "bad_tag"),
    _added("an alias to itself", "metrics: &m {prefix: *m}\n", "recursion"),
    _added("an alias to what is around", "x: &x\n  y: [1, {z: *x}]\n", "recursion", at=1),
    _added("an alias to nothing", "metrics: *nothing\n", "unknown_anchor"),
    _added("an alias before its anchor", "x: *y\ny: &y 1\n", "unknown_anchor"),
    _added("an alias as a key", "x: &x a\n*x : 1\n", "bad_key", at=1),
    _added("a merge of a word", "metrics: {<<: word}\n", "bad_merge"),
    _added("a merge of itself", "x: &x {<<: *x}\n", "recursion"),
    _added("a billion laughs", _laughs(12), "too_many", at=5, lines=3),
    _added("nested lists", "x: " + "[" * 5_000 + "]" * 5_000 + "\n", "too_deep"),
    _added("nested mappings", "x: " + "{a: " * 5_000 + "}" * 5_000 + "\n", "too_deep"),
    _added(
        "nested lines", "".join(f"{' ' * n}x:\n" for n in range(200)), "too_deep", at=63, lines=2
    ),
    # JSON.
    _json("a comma too many", '"shop"\n  }', '"shop",\n  }', ",\n  }"),
    _json("a comma too few", '"format": 1,', '"format": 1', '1\n "up'),
    _json("cut off", JSON[JSON.index('  "upstream"') :], "", '/list"\n   },'),
    _json("a comment", '"format": 1,', '"format": 1, // c', "// c"),
    _json("single quotes", '"format": 1', "'format': 1", "'format'"),
    _json(
        "a key twice, in JSON",
        '"format": 1,',
        '"format": 1,\n "format": 1,',
        '1,\n "format"',
        "duplicate_key",
    ),
    _json("a number that is none", '"format": 1', '"format": NaN', "NaN"),
    _json("infinity", '"/list"', "-Infinity", "-Infinity"),
    _json("lists without end", '"format": 1', f'"format": {"[" * 200_000}', '"format"', "too_deep"),
    _json("something behind it", "\n}\n", "\n}\n{}\n", "\n}\n{"),
    _json("a line end in a text", '"/list"', '"/li\nst"', '"/li'),
)
