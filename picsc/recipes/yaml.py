"""YAML 1.2 as Python values: `1e-3` is a number, `no` is a word, `010` is ten. Safe, bounded, with line numbers.

PyYAML's parser reads the syntax. Its own way of making values (version 1.1, tags of Python objects, merge keys) is not
used: values are made here, by the core schema of YAML 1.2, section 10.3.2.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NoReturn

import yaml

from picsc.settings.problems import KeyPath

MOST_BYTES, MOST_VALUES, MOST_ALIASES, DEEPEST, MOST_DIGITS = 2**20, 20_000, 100, 50, 100
"""Bounds that no recipe comes near: of the file, of its values with aliases written out, and of one whole number."""

_TAG = "tag:yaml.org,2002:"
_NULL = re.compile(r"null|Null|NULL|~|")
_BOOL = re.compile(r"true|True|TRUE|false|False|FALSE")
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_SURROGATE = re.compile("[\ud800-\udfff]")


class YamlError(Exception):
    """Text that cannot be read: why, and on which line, counted from 1 (0 where no line is at fault)."""

    def __init__(self, message: str, line: int = 0) -> None:
        """Keep the line apart from the sentence."""
        super().__init__(message)
        self.message = message
        self.line = line


@dataclass(frozen=True, slots=True)
class Document:
    """The values of a YAML file, and their lines."""

    values: object
    """None, bool, int, float, str, lists and mappings; keys of mappings are str or int."""
    lines: Mapping[KeyPath, int]
    """Line of every key and list item, counted from 1; a key that is a number stands as its text."""


def read_yaml(content: bytes) -> Document:
    """Read one YAML document.

    Args:
        content: of the file, UTF-8, with or without a byte order mark.

    Raises:
        YamlError: it is not UTF-8, no YAML, more than one document, or beyond a bound; a repeated key, a merge key, a
            tag outside the core schema.
    """
    if len(content) > MOST_BYTES:
        raise YamlError(f"is longer than {MOST_BYTES:,} bytes, the most that is read")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise YamlError(f"is not UTF-8 at byte {error.start + 1}; save it as UTF-8", line) from None
    loader: yaml.SafeLoader | None = None
    try:
        loader = yaml.SafeLoader(text)
        building = _Building(_events(loader))
        return Document(building.document(), building.lines)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise YamlError(f"holds the character #x{error.character:04x}, which YAML does not allow", line) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = "" if mark is None else f" (column {mark.column + 1})"
        message = ", ".join(" ".join(part.split()) for part in (error.context, error.problem) if part)
        advice = (
            "indent with spaces, not tabs" if r"'\t'" in message else "check indentation, colons, brackets and quotes"
        )
        raise YamlError(f"is no YAML: {message}{where}; {advice}", 0 if mark is None else mark.line + 1) from None
    except (yaml.YAMLError, ValueError, OverflowError):  # PyYAML's own of numbers in escapes and %YAML
        line = 0 if loader is None else loader.get_mark().line + 1
        raise YamlError("is no YAML: a number in an escape or a directive is out of range", line) from None


def _events(loader: yaml.SafeLoader) -> Iterator[yaml.Event]:
    while loader.check_event():
        yield loader.get_event()  # type: ignore[no-untyped-call] # the stubs have no type for it


@dataclass(slots=True)
class _Anchored:
    """The value that an alias stands for."""

    value: object
    size: int
    """Number of values in it, itself included."""


@dataclass(slots=True)
class _Building:
    """Makes values of the events of one document."""

    events: Iterator[yaml.Event]
    lines: dict[KeyPath, int] = field(default_factory=dict)
    anchors: dict[str, _Anchored | None] = field(default_factory=dict)
    """None while the value is not complete."""
    size: int = 0
    aliases: int = 0

    def document(self) -> object:
        """The value of the only document; None of an empty one."""
        value: object = None
        documents = 0
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    _refuse(event, "a second document begins; give one per file")
                value = self.value(next(self.events), ())
        return value

    def value(self, event: yaml.Event, path: KeyPath) -> object:
        """The value that begins with an event."""
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event)
        before = self.size
        self._grown(event, 1)
        anchor = getattr(event, "anchor", None)
        if anchor is not None:
            self.anchors[anchor] = None
        if len(path) >= DEEPEST:
            _refuse(event, f"values are nested more than {DEEPEST} deep")
        made: object
        if isinstance(event, yaml.ScalarEvent):
            made = _scalar(event)
        elif isinstance(event, yaml.SequenceStartEvent):
            _only_tag(event, "seq")
            made = self._items(path)
        else:
            _only_tag(event, "map")
            made = self._mapping(path)
        if anchor is not None:
            self.anchors[anchor] = _Anchored(made, self.size - before)
        return made

    def _items(self, path: KeyPath) -> list[object]:
        items: list[object] = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            inside = (*path, len(items))
            self.lines[inside] = _line(event)
            items.append(self.value(event, inside))
        return items

    def _mapping(self, path: KeyPath) -> dict[str | int, object]:
        values: dict[str | int, object] = {}
        first: dict[str, int] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            key = self._key(event)
            line = _line(event)
            if str(key) in first:
                raise YamlError(f"the key {key!r} stands here and on line {first[str(key)]}; remove one of them", line)
            first[str(key)] = line
            inside = (*path, str(key))
            self.lines[inside] = line
            values[key] = self.value(next(self.events), inside)
        return values

    def _key(self, event: yaml.Event) -> str | int:
        if isinstance(event, yaml.ScalarEvent) and event.value == "<<" and event.implicit[0]:
            _refuse(event, "<< (a merge key) is no part of YAML 1.2; write the keys out")
        key = self.value(event, ()) if isinstance(event, yaml.ScalarEvent | yaml.AliasEvent) else None
        if isinstance(key, bool) or not isinstance(key, str | int):
            _refuse(event, "a key must be a word or a whole number; put other keys in quotes")
        return key

    def _alias(self, event: yaml.AliasEvent) -> object:
        self.aliases += 1
        if self.aliases > MOST_ALIASES:
            _refuse(event, f"there are more than {MOST_ALIASES} aliases")
        if event.anchor not in self.anchors:
            _refuse(event, f"*{event.anchor} has no anchor &{event.anchor} before it")
        anchored = self.anchors[event.anchor]
        if anchored is None:
            _refuse(event, f"*{event.anchor} stands inside what it stands for")
        self._grown(event, anchored.size)
        return anchored.value

    def _grown(self, event: yaml.Event, by: int) -> None:
        self.size += by
        if self.size > MOST_VALUES:
            _refuse(event, f"there are more than {MOST_VALUES:,} values, aliases written out; a recipe needs far fewer")


def _line(event: yaml.Event) -> int:
    return 0 if event.start_mark is None else event.start_mark.line + 1


def _refuse(event: yaml.Event, message: str) -> NoReturn:
    raise YamlError(message, _line(event))


def _only_tag(event: yaml.Event, kind: str) -> None:
    tag = getattr(event, "tag", None)
    if tag not in (None, "!", f"{_TAG}{kind}"):
        _refuse(event, f"the tag {tag} is not read; leave it out")


def _scalar(event: yaml.ScalarEvent) -> object:
    """A word or a number by the core schema; quoted ones are words."""
    text, tag = event.value, event.tag
    if _SURROGATE.search(text):
        _refuse(event, "an escape stands for half a character (a surrogate); write the character itself")
    if tag is None and not event.implicit[0]:  # quoted, or a block
        return text
    if tag in ("!", f"{_TAG}str"):
        return text
    kind = "" if tag is None else tag.removeprefix(_TAG)
    if kind not in ("", "null", "bool", "int", "float"):
        _refuse(event, f"the tag {tag} is not read; leave it out")
    if kind in ("", "null") and _NULL.fullmatch(text):
        return None
    if kind in ("", "bool") and _BOOL.fullmatch(text):
        return text.lower() == "true"
    if kind in ("", "int") and _INT.fullmatch(text):
        return _whole(event)
    if kind in ("", "float") and _FLOAT.fullmatch(text):
        return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
    if kind:
        _refuse(event, f"{text[:40]!r} is no {kind}, as its tag says")
    return text


def _whole(event: yaml.ScalarEvent) -> int:
    """A whole number; without a prefix it is decimal whatever zeros it begins with."""
    text = event.value
    if len(text) > MOST_DIGITS:
        _refuse(event, f"a number has {len(text)} digits; at most {MOST_DIGITS} are read")
    return int(text[2:], 8) if text.startswith("0o") else int(text, 16) if text.startswith("0x") else int(text)
