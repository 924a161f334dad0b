"""Settings as a file spells them: other spellings made alike, and problems with a line and a suggestion.

Torch-free. A recipe and `[tool.picsc]` of pyproject.toml go through here before `picsc.settings.layers` joins them.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, time
from typing import TypeVar, get_args

from pydantic import BaseModel, ValidationError

from picsc.settings import KINDS, Settings
from picsc.settings.column_tables import column_settings
from picsc.settings.problems import KeyPath, Problem, problems

M = TypeVar("M", bound=BaseModel)
_SHOWN = 60
"""Characters of a value that a sentence repeats."""
_MOST = 28
"""Keys that a sentence lists."""
_LAMBDA = "lambda"
"""Name of the penalty's strength in the paper and on the command line."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """Settings with the names that `picsc.settings` gives them."""

    values: dict[str, object]
    written: Mapping[KeyPath, KeyPath] = field(default_factory=dict)
    """The path that the file has, by the path in `values`, where the two differ."""
    problems: tuple[Problem, ...] = ()
    """Settings given under two names."""

    def as_written(self, path: KeyPath) -> KeyPath:
        """The path that the file has."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.written:
                return (*self.written[path[:length]], *path[length:])
        return path


def spelled(values: Mapping[str, object], kind: type[Settings], *, hyphens: bool = False) -> Spelling:
    """Settings with `lambda` under its own name and, if wanted, `min-effect` for `min_effect`.

    Args:
        values: of the file, apart from keys that are no settings.
        kind: settings of the verb.
        hyphens: `-` in a key stands for `_`.
    """
    values, wrong = column_settings(values, kind)
    new: dict[str, object] = {}
    written: dict[KeyPath, KeyPath] = {}
    for old, value in leaves(values, kind):
        path = _named(tuple(part.replace("-", "_") for part in old) if hyphens else old, kind)
        into = new
        for part in path[:-1]:
            inside = into.setdefault(part, {})
            if not isinstance(inside, dict):  # penalty: 3 next to lambda: 0.1; the wrong value is reported elsewhere
                break
            into = inside
        else:
            if isinstance(into.get(path[-1]), dict):  # lambda: 0.1 before penalty: 3
                wrong.append(Problem(old, value, "a table of settings"))
                continue
            if path[-1] in into:
                first = ".".join(map(str, written.get(path, path)))
                wrong.append(
                    Problem(old, value, f"is the same setting as {first}; give one of them", contradiction=True)
                )
                continue
            into[path[-1]] = value
        if path != old:
            written[path] = old
    return Spelling(new, written, tuple(wrong))


def leaves(values: Mapping[str, object], kind: type[BaseModel]) -> Iterator[tuple[tuple[str, ...], object]]:
    """Every value with its path; a table of settings is gone into.

    Args:
        values: tables inside.
        kind: settings that they are of.
    """
    for key, value in values.items():
        section = section_of(kind, key.replace("-", "_"))
        if section is not None and isinstance(value, Mapping):
            for path, inner in leaves({str(name): inside for name, inside in value.items()}, section):
                yield (key, *path), inner
        else:
            yield (key,), value


def _named(path: tuple[str, ...], kind: type[Settings]) -> tuple[str, ...]:
    """`lambda` by its own name, where the verb has one."""
    if path == (_LAMBDA,) and "strength" in kind.model_fields:
        return ("strength",)
    if path in ((_LAMBDA,), ("penalty", _LAMBDA)) and "penalty" in kind.model_fields:
        return ("penalty", "strength")
    return path


def section_of(kind: type[BaseModel], name: str) -> type[BaseModel] | None:
    """The keys of what stands in a table of its own, such as `cut`, or in a list of them; None for a single value."""
    field = kind.model_fields.get(name)
    return None if field is None else _model_in(field.annotation)


def _model_in(annotation: object) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((model for model in map(_model_in, get_args(annotation)) if model is not None), None)


def built(kind: type[M], values: Mapping[str, object]) -> tuple[M | None, list[Problem]]:
    """Settings made of values, or the problems of the values."""
    try:
        return kind.model_validate(values), []
    except ValidationError as error:
        return None, problems(error, values)


def sentence(problem: Problem, kind: type[BaseModel], others: Iterable[str] = (), prefix: str = "") -> str:
    """One problem with its key, its value and what it must be.

    Args:
        problem: with the path that the file has.
        kind: settings that the path leads into.
        others: keys in addition to those of `kind`.
        prefix: what stands before the path in the file, such as `tool.picsc.`.
    """
    key = f"{prefix}{problem.key}"
    if problem.contradiction:
        return f"{key}: {problem.requirement}" if problem.path else problem.requirement
    if problem.unknown:
        return f"{key}: unknown key{_meant(problem, kind, tuple(others))}"
    if problem.value is None:
        return f"{key}: must be {problem.requirement}"
    return f"{key} = {shown(problem.value)}: must be {problem.requirement}"


def shown(value: object) -> str:
    """A value as a sentence shows it, in YAML's and TOML's spelling, cut short."""
    words = {True: "true", False: "false", None: "null"}
    text = words[value] if value is None or isinstance(value, bool) else repr(value)
    text = value.isoformat() if isinstance(value, date | time) else text
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def _meant(problem: Problem, kind: type[BaseModel], others: tuple[str, ...]) -> str:
    """Which key was meant; the keys that there are, if none is near."""
    *table, last = problem.path
    model: type[BaseModel] | None = kind
    for part in table:
        if isinstance(part, str):
            model = None if model is None else section_of(model, part)
    keys = tuple(others) if model is None else (*(() if table else others), *model.model_fields)
    word = str(last).replace("-", "_")
    if word == _LAMBDA and table in ([], ["penalty"]):
        return "; a penalty of this name is a setting of cv, compare and fed"
    near = difflib.get_close_matches(word, keys, n=1, cutoff=0.7)
    if near:
        return f"; did you mean {near[0]}?"
    everywhere = {path.rpartition(".")[2]: path for path in reversed(_paths(kind))}
    far = difflib.get_close_matches(word, everywhere, n=1, cutoff=0.75)
    if far:
        return f"; did you mean {everywhere[far[0]]}?"
    having = [verb for verb, other in KINDS.items() if not table and word in other.model_fields]
    if having:
        return f"; it is a setting of {', '.join(having)}"
    known = sorted(set(keys))
    listed = f" (known: {', '.join(known)})" if known else ""
    return listed if len(known) <= _MOST else "; `picsc config` shows the settings of a command"


def _paths(kind: type[BaseModel]) -> list[str]:
    """Every setting of a verb with its table."""
    found = []
    for name in kind.model_fields:
        section = section_of(kind, name)
        found += [name] if section is None else [f"{name}.{inner}" for inner in _paths(section)]
    return found
