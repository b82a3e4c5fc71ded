"""Tables of fields, from a JSON Schema: type, default, range, example, meaning."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Schema = Mapping[str, Any]

# What a pattern of the schema means to people; the first two have a unit in the value.
SHAPES = {
    "^[0-9]+(us|ms|s|m|h)$": "[duration](../configuration.md#values)",
    "^[0-9]+(B|KiB|MiB|GiB|KB|MB|GB)$": "[size](../configuration.md#values)",
    "^.+:[0-9]+$": "[address](../configuration.md#values)",
    "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$": "[id](../configuration.md#values)",
    "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$": "header name",
}
TYPES = {
    "object": "mapping",
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "`true` or `false`",
    "null": "nothing",
}
LENGTHS = {
    "string": ("minLength", "maxLength", " characters"),
    "array": ("minItems", "maxItems", " items"),
    "object": ("minProperties", "maxProperties", " fields"),
}


@dataclass(frozen=True)
class Table:
    """The fields of one mapping; `path` says where it stands, such as `routes[].match`."""

    path: str
    meaning: str
    rows: tuple[str, ...]

    def lines(self, *, level: int) -> list[str]:
        """The table as Markdown, below a heading unless it is the top one."""
        heading = [f"{'#' * level} `{self.path}` {{ #{anchor(self.path)} }}", ""]
        text = [self.meaning, ""] if self.meaning else []
        head = [
            "| Field | Type | Default | Range | Example | Meaning |",
            "|---|---|---|---|---|---|",
        ]
        return [*(heading if self.path else []), *text, *head, *self.rows, ""]


def anchor(path: str) -> str:
    """The anchor of a table: `routes-match` for `routes[].match`."""
    return path.replace("[]", "").replace(".", "-").replace("*", "any").lower()


class Tables:
    """Every table of a schema, the inner ones after the one that holds them."""

    def __init__(self, definitions: Mapping[str, Schema]) -> None:
        self._definitions = definitions
        self._shown: dict[str, str] = {}

    def of(self, schema: Schema, path: str = "", meaning: str = "") -> Iterator[Table]:
        """The table of a mapping and of all mappings in it."""
        schema = self._resolved(schema)
        properties: Mapping[str, Schema] = schema.get("properties", {})
        if not properties:
            return
        required = set(schema.get("required", ()))
        below: list[tuple[str, Schema, str]] = []
        rows = []
        for name, field in properties.items():
            place = f"{path}.{name}" if path else name
            inner = self._inner(field, place)
            if inner:
                # The first place that has it shows it; the others link there.
                self._shown.setdefault(inner[2], inner[0])
                below.append(inner)
            cells = (
                f"`{name}`",
                self._linked(field, inner),
                "required" if name in required else _default(self._merged(field)),
                self._range(field),
                self._example(field),
                _escaped(self._meaning(field, schema)),
            )
            rows.append(f"| {' | '.join(cells)} |")
        yield Table(path, meaning or schema.get("description", ""), tuple(rows))
        for place, inner_schema, name in below:
            if self._shown[name] == place:
                yield from self.of(inner_schema, place)

    def _inner(self, field: Schema, place: str) -> tuple[str, Schema, str] | None:
        """The mapping that a field holds, behind lists, choices and names of the user's."""
        for part in self._parts(field):
            kind = part.get("type")
            if part.get("properties"):
                return place, part, self._name(part)
            if kind == "array" and "items" in part:
                return self._inner(part["items"], f"{place}[]")
            named = _values_of(part)
            if named is not None:
                return self._inner(named, f"{place}.*")
        return None

    def _linked(self, field: Schema, inner: tuple[str, Schema, str] | None) -> str:
        text = self._type(field)
        if inner is None:
            return text
        return f"[{text}](#{anchor(self._shown[inner[2]])})"

    def _type(self, field: Schema) -> str:
        """What to write, in words; alternatives with `or`."""
        words = [self._type_of_part(part) for part in self._parts(field)]
        return _escaped(" or ".join(dict.fromkeys(word for word in words if word)))

    def _type_of_part(self, part: Schema) -> str:
        if "enum" in part:
            return " or ".join(f"`{value}`" for value in part["enum"] if value is not None)
        if "const" in part:
            return f"`{json.dumps(part['const'])}`".replace('"', "")
        if part.get("pattern") in SHAPES:
            return SHAPES[part["pattern"]]
        kinds = part.get("type", "any")
        kinds = [kinds] if isinstance(kinds, str) else kinds
        words = []
        for kind in kinds:
            if kind == "array":
                words.append(f"list of {_plain(self._type(part.get('items', {})))}")
            elif kind == "object" and (named := _values_of(part)) is not None:
                words.append(f"mapping of names to {_plain(self._type(named))}")
            elif kind != "null":
                words.append(TYPES.get(kind, kind))
        return " or ".join(words)

    def _range(self, field: Schema) -> str:
        found: dict[str, None] = {}
        for part in self._parts(field):
            least = part.get("minimum", part.get("exclusiveMinimum"))
            found[_between(least, part.get("maximum"), "")] = None
            for kind, (low, high, unit) in LENGTHS.items():
                if kind in part.get("type", ()):
                    found[_between(part.get(low) or None, part.get(high), unit)] = None
        return ", ".join(text for text in found if text)

    def _meaning(self, field: Schema, holder: Schema) -> str:
        """What a field and each of its words mean; the only field of a choice has the choice's."""
        own = self._merged(field).get("description", "")
        if not own and len(holder["properties"]) == 1:
            own = holder.get("description", "")
        words = [
            f"`{part['const']}`: {part['description']}"
            for part in self._parts(field)
            if "const" in part and part.get("description") not in (None, own)
        ]
        return " ".join(" ".join([own, *words]).split())

    def _example(self, field: Schema) -> str:
        """The field's own example, else that of what it holds."""
        merged = self._merged(field)
        # Of a shape with a section of its own the same example would stand in every row.
        if merged.get("pattern") in tuple(SHAPES)[:2]:
            return ""
        held = [part.get("items", {}) for part in self._parts(field)]
        found = (one["examples"][0] for one in (merged, *held) if one.get("examples"))
        example = next(found, None)
        return "" if example is None else _code(example)

    def _parts(self, field: Schema) -> list[Schema]:
        """The alternatives of a field, references followed, `null` left out."""
        field = self._resolved(field)
        for choice in ("anyOf", "oneOf"):
            if choice in field:
                return [part for one in field[choice] for part in self._parts(one)]
        return [] if field.get("type") == "null" else [field]

    def _merged(self, field: Schema) -> Schema:
        """A field with what the definition it refers to says besides."""
        parts = self._parts(field)
        return {**(parts[0] if parts else {}), **field}

    def _resolved(self, field: Schema) -> Schema:
        while "$ref" in field:
            name = field["$ref"].rpartition("/")[2]
            own = {key: value for key, value in field.items() if key != "$ref"}
            field = {**self._definitions[name], **own, "title": name}
        return field

    @staticmethod
    def _name(part: Schema) -> str:
        return str(part.get("title") or id(part))


def _values_of(part: Schema) -> Schema | None:
    """What a mapping with names of the user's holds."""
    extra = part.get("additionalProperties")
    if isinstance(extra, dict):
        return extra
    patterns = part.get("patternProperties")
    return next(iter(patterns.values())) if patterns else None


def _default(field: Schema) -> str:
    if field.get("default") is None or field["default"] in ({}, []):
        return "none"
    return _code(field["default"])


def _code(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"`{_escaped(text)}`" if text else '`""`'


def _between(low: float | None, high: float | None, unit: str) -> str:
    if low is None and high is None:
        return ""
    if high is None:
        return f"at least {_number(low)}{unit}"
    if low is None:
        return f"at most {_number(high)}{unit}"
    return f"{_number(low)} to {_number(high)}{unit}" if low != high else f"{_number(low)}{unit}"


def _number(value: float | None) -> str:
    return f"{value:,}".replace(",", " ") if isinstance(value, int) else f"{value:g}"


def _plain(text: str) -> str:
    """The words of a link: a link inside a link is none."""
    return text.replace("[", "").partition("](")[0] if "](" in text else text


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", "\\n")
