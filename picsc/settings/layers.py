"""Layers of settings: defaults, pyproject.toml, recipe and options, joined so that the higher one wins. Torch-free.

Values replace each other one by one, lists as a whole. Values that exclude each other, such as two ways to cut, do so
across places as well: the higher one wins, and what belonged to the lower one goes with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel

from picsc.errors import SettingsError
from picsc.settings import WAYS, Settings, validated
from picsc.settings.spelling import built, leaves

S = TypeVar("S", bound=Settings)
DEFAULT, FLAG = "default", "flag"
"""Origins that are no file."""
_Path = tuple[str, ...]
_TARGET: tuple[_Path, ...] = (("train_on",), ("test_on",))
_BIAS: tuple[_Path, ...] = (("bias",), ("bias_strength",))
_EXCLUDED: dict[_Path, tuple[_Path, ...]] = {
    ("read", "target"): (("read", "no_target"),),
    ("read", "no_target"): (("read", "target"),),
    ("cut", "every"): (("cut", "cuts"),),
    ("cut", "cuts"): (("cut", "every"),),
    ("epochs",): (("steps",),),
    ("steps",): (("epochs",),),
    ("train_on",): _BIAS,
    ("test_on",): _BIAS,
}
"""Settings that a value replaces although they have other names."""
_OF_PARTITION = ("concentration", "classes", "noise")


@dataclass(frozen=True, slots=True)
class Layer:
    """Settings from one place."""

    origin: str
    """A file's path as it is shown, `flag`, or `default` for what a command does where nothing is given."""
    values: Mapping[str, object]
    """As `picsc.settings` names them, tables inside; only what was given."""
    way: str = ""
    """A way to cut that is given outside of `values`, by grids or by entries of a recipe."""
    replaces: tuple[_Path, ...] = ()
    """Settings of lower places that do not hold, for the same reason."""


@dataclass(frozen=True, slots=True)
class Joined:
    """The settings of all places, before they are checked together."""

    values: dict[str, object]
    origins: Mapping[_Path, str]
    """By path, of every value that is no default of the settings."""


@dataclass(frozen=True, slots=True)
class Resolved(Generic[S]):
    """Settings that hold, and where each comes from."""

    settings: S
    origins: Mapping[_Path, str]
    """By path, of every value that is no default of the settings."""

    def rows(self) -> tuple[tuple[str, object, str], ...]:
        """Every setting with its value and origin, in the order of the settings."""
        return tuple(
            (".".join(path), value, self.origins.get(path, DEFAULT)) for path, value in _values_of(self.settings)
        )


def resolved(kind: type[S], layers: Sequence[Layer]) -> Resolved[S]:
    """Join and check the settings of several places.

    Args:
        kind: of the verb.
        layers: from the lowest to the highest; the values of files have been checked one by one.

    Raises:
        SettingsError: values that are out of range or do not go together; all at once, with the files that took part.
    """
    both = joined(kind, layers)
    try:
        return Resolved(validated(kind, **both.values), both.origins)
    except SettingsError as error:
        _, wrong = built(kind, both.values)
        _, alone = built(kind, joined(kind, [layer for layer in layers if layer.origin in (DEFAULT, FLAG)]).values)
        together = {one.requirement for one in wrong if one.contradiction} - {one.requirement for one in alone}
        files = {origin: None for origin in both.origins.values() if together and origin not in (DEFAULT, FLAG)}
        raise SettingsError(f"{error} (settings of {' and '.join(files)} took part)" if files else str(error)) from None


def joined(kind: type[Settings], layers: Sequence[Layer]) -> Joined:
    """Join the settings of several places without checking them together.

    Args:
        kind: of the verb.
        layers: from the lowest to the highest.
    """
    below: dict[_Path, tuple[object, str]] = {}
    for layer in layers:
        above = dict(leaves(layer.values, kind))
        gone = {*layer.replaces, *_gone(below, above, layer.way or _way(above))}
        below = {path: held for path, held in below.items() if path not in gone and path[:1] not in gone}
        if layer.origin == FLAG:
            _take_back(below, above)
        below |= {path: (value, layer.origin) for path, value in above.items()}
    values: dict[str, object] = {}
    for path, (value, _) in below.items():
        into = values
        for part in path[:-1]:
            into = into.setdefault(part, {})  # type: ignore[assignment] # a table, by the paths of `leaves`
        into[path[-1]] = value
    return Joined(values, {path: origin for path, (_, origin) in below.items()})


def _values_of(settings: BaseModel) -> Iterator[tuple[_Path, object]]:
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if isinstance(value, BaseModel):
            for path, inner in _values_of(value):
                yield (name, *path), inner
        else:
            yield (name,), value


def _way(values: Mapping[_Path, object]) -> str:
    """The way to cut: a name of `WAYS`, `clients.by`, `clients`, `bias` or nothing."""
    for name in WAYS:
        if values.get(("cut", name)) is not None:
            return name
    if values.get(("clients", "by")) is not None:
        return "clients.by"
    if values.get(("clients", "clients")) is not None or values.get(("clients", "partition")) is not None:
        return "clients"
    return "bias" if values.get(("bias",)) is not None else ""


def _gone(below: Mapping[_Path, tuple[object, str]], above: Mapping[_Path, object], way: str) -> Iterator[_Path]:
    """Values, and whole tables, of lower places that higher values take the place of."""
    held = {path: value for path, (value, _) in below.items()}
    old = _way(held)
    for path, others in _EXCLUDED.items():
        if above.get(path):
            yield from others
    if way in WAYS:
        yield from _BIAS
        if old in ("clients", "clients.by"):
            yield ("clients",)
        if way != (old or "folds"):
            yield ("cut",)
            yield from _TARGET
    elif way == "bias":
        yield ("cut",)
        yield from _TARGET
    elif way:
        yield ("cut",)
        if old in ("clients", "clients.by") and old != way:
            yield ("clients",)
    partition = above.get(("clients", "partition"))
    if partition is not None and partition != held.get(("clients", "partition"), partition):
        yield from (("clients", name) for name in _OF_PARTITION)


def _take_back(below: dict[_Path, tuple[object, str]], above: Mapping[_Path, object]) -> None:
    """A column that a flag calls numeric is no longer in a file's list of categorical ones, and the other way round."""
    for mine, other in (("categorical", "numeric"), ("numeric", "categorical")):
        named, path = above.get(("read", mine)), ("read", other)
        if path in below and isinstance(named, tuple):
            listed, origin = below[path]
            if isinstance(listed, list | tuple):
                below[path] = ([name for name in listed if name not in named], origin)
