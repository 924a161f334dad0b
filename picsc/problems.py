"""What pydantic found wrong, as places, values and bounds in a person's words: one problem per value, all at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError

_INPUT_SHOULD = "Input should be "


@dataclass(frozen=True, slots=True)
class Problem:
    """One value that cannot be used."""

    path: tuple[str | int, ...]
    """Keys from the outside in; a number is a position in a list."""
    value: object
    said: str
    """What it must be: `greater than or equal to 2`; or the whole sentence of a contradiction."""
    unknown: bool = False
    """The key is not known at all."""
    contradiction: bool = False
    """Values that do not go together; `said` names them."""

    @property
    def key(self) -> str:
        """The path as it is written down: `cut.folds`, `data[1]`."""
        text = "".join(f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in self.path)
        return text.removeprefix(".")


def problems(error: ValidationError, values: object) -> list[Problem]:
    """Every problem of a validation once, in the order of the keys; choices that a value fits none of are one problem.

    Args:
        error: what pydantic raised.
        values: what it was raised about.
    """
    found: dict[tuple[str | int, ...], Problem] = {}
    for detail in error.errors():
        contradiction = detail["type"] == "value_error"  # our own validators already speak in options
        path = _written(detail["loc"], values)
        said = str(detail["ctx"]["error"]) if contradiction else detail["msg"].removeprefix(_INPUT_SHOULD)
        unknown = detail["type"] == "extra_forbidden"
        new = Problem(path, detail["input"], said, unknown, contradiction)
        if detail["type"] == "missing":
            new = Problem(path, None, "given")
        old = found.get(path)
        if old is not None:
            new = Problem(path, old.value, f"{old.said}, or {said}")
        found[path] = new
    return list(found.values())


def _written(location: Sequence[str | int], values: object) -> tuple[str | int, ...]:
    """The part of pydantic's location that leads into the values; what follows names the branch of a choice."""
    path: list[str | int] = []
    for part in location:
        inside = part in values if isinstance(values, Mapping) else isinstance(values, (list, tuple))
        if not inside:
            return tuple(path) or tuple(location[:1])  # a key that is missing is named all the same
        path.append(str(part) if isinstance(values, Mapping) else part)
        values = values[part]  # type: ignore[index] # a mapping, or a list and a number in it
    return tuple(path)
