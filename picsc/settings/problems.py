"""Problems that pydantic found, as places, values and bounds in plain words: one problem per value, all at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError

_INPUT_SHOULD = "Input should be "
_WORDS = {
    "missing": "given",
    "model_type": "a table of keys and values",
    "dict_type": "a table of keys and values",
    "tuple_type": "a list",
    "list_type": "a list",
    "string_type": "text",
    "path_type": "text",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
}
"""In the words of somebody who writes YAML or TOML."""
KeyPath = tuple[str | int, ...]
"""Keys from the outside in; a number is a position in a list, counted from 0."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One value that cannot be used."""

    path: KeyPath
    value: object
    requirement: str
    """The values that are allowed: `greater than or equal to 2`; or the whole sentence of a contradiction."""
    unknown: bool = False
    """The key is not known at all."""
    contradiction: bool = False
    """Values that do not go together; `requirement` is the whole sentence."""

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
    found: dict[KeyPath, Problem] = {}
    for detail in error.errors():
        contradiction = detail["type"] == "value_error"  # our own validators already speak in options
        missing = detail["type"] == "missing"
        path = (
            (*_written(detail["loc"][:-1], values), detail["loc"][-1]) if missing else _written(detail["loc"], values)
        )
        words = str(detail["ctx"]["error"]) if contradiction else detail["msg"].removeprefix(_INPUT_SHOULD)
        unknown = detail["type"] == "extra_forbidden"
        words = _WORDS.get(detail["type"], words)
        if words == "text" and isinstance(detail["input"], bool | int | float):
            words = "text; put it in quotes"
        new = Problem(path, None if missing else detail["input"], words, unknown, contradiction)
        old = found.get(path)
        if old is not None:
            new = Problem(
                path, old.value, old.requirement if words in old.requirement else f"{old.requirement}, or {words}"
            )
        found[path] = new
    return list(found.values())


def _written(location: Sequence[str | int], values: object) -> KeyPath:
    """The part of pydantic's location that leads into the values; what follows names the branch of a choice."""
    path: list[str | int] = []
    for part in location:
        in_list = isinstance(values, list | tuple) and isinstance(part, int)
        inside = part in values if isinstance(values, Mapping) else in_list
        if not inside:
            return tuple(path) or tuple(location[:1])  # a key that is missing is named all the same
        path.append(str(part) if isinstance(values, Mapping) else part)
        values = values[part]  # type: ignore[index] # a mapping, or a list and a number in it
    return tuple(path)
