"""The table `columns` of a file, one inner table per column, as the settings that it stands for. Torch-free.

`columns = { age = { min-effect = 0.2 }, "ward_*" = { role = "monitor" } }` stands for `min_effect_of: [age=0.2]` and
`monitor: [ward_*]`; the role `ignore` is `read.drop`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from picsc.settings.problems import Problem

if TYPE_CHECKING:
    from picsc.settings.base import Settings

TABLE = "columns"
ROLES = ("test", "monitor", "ignore")
"""Roles of a column: in the verdict, reported alone, or left out."""


def column_settings(values: Mapping[str, object], kind: type[Settings]) -> tuple[dict[str, object], list[Problem]]:
    """Values of a file with the table `columns` spelled out, and what is wrong with that table.

    Args:
        values: of the file.
        kind: settings of the verb; where it knows no settings of single columns, nothing changes.
    """
    found = dict(values)
    if "monitor" not in kind.model_fields or TABLE not in values:
        return found, []
    tables = found.pop(TABLE)
    if not isinstance(tables, Mapping):
        return found, [Problem((TABLE,), tables, "a table with one table per column")]
    bounds: list[str] = []
    roles: dict[str, list[str]] = {role: [] for role in ROLES}
    wrong: list[Problem] = []
    for name, given in tables.items():
        if not isinstance(given, Mapping):
            wrong.append(Problem((TABLE, str(name)), given, "a table with min-effect, role, or both"))
            continue
        for key, value in given.items():
            path = (TABLE, str(name), str(key))
            if key in ("min-effect", "min_effect"):
                if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1:
                    wrong.append(Problem(path, value, "a number of at least 0 and less than 1"))
                else:
                    bounds.append(f"{name}={value}")
            elif key == "role":
                if value not in ROLES:
                    wrong.append(Problem(path, value, "'test', 'monitor' or 'ignore'"))
                else:
                    roles[str(value)].append(str(name))
            else:
                wrong.append(Problem(path, value, "known: min-effect, role", contradiction=True))
    _add(found, "min_effect_of", bounds)
    _add(found, "monitor", roles["monitor"])
    if roles["ignore"]:
        read = found.get("read", {})
        if isinstance(read, Mapping):
            found["read"] = dict(read)
            _add(found["read"], "drop", roles["ignore"])  # type: ignore[arg-type] # made a dict just now
    return found, wrong


def _add(values: dict[str, object], name: str, more: list[str]) -> None:
    """Add to a list that the file may hold under either spelling; a value that is no list is reported elsewhere."""
    if not more:
        return
    key = next((key for key in values if key.replace("-", "_") == name), name)
    held = values.get(key, [])
    values[key] = [*held, *more] if isinstance(held, list | tuple) else held
