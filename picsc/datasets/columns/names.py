"""Column names: made unique, and those that a user gives checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from picsc.errors import DataError
from picsc.phrases import listed

INDEX = "index"
"""Name by which a frame can be cut by its index, where the index has none."""
_SHOWN = 20
"""Most names in a message."""


def unique_names(names: Sequence[str], *, rename: bool, where: str, header: bool = False) -> list[str]:
    """The names as they are if no two are equal, or with repeats renamed a, a.1, a.2.

    Args:
        names: names as read, surrounding blanks removed.
        rename: repeats are renamed instead of refused.
        where: the file or table, for the message.
        header: the names come from a first line that might be data.

    Raises:
        DataError: names repeat and `rename` is off.
    """
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if not repeated:
        return list(names)
    if not rename:
        columns = "column name" if len(repeated) == 1 else "column names"
        ways = "rename them, use --rename-duplicates, or --no-header if the first line is data"
        raise DataError(
            f"{where}: repeated {columns} {quoted(repeated)}; "
            + (ways if header else "rename them, or use --rename-duplicates")
        )
    taken = set(names)
    seen: set[str] = set()
    next_number: Counter[str] = Counter()
    result = []
    for name in names:
        new = name
        while new in seen or (new != name and new in taken):
            next_number[name] += 1
            new = f"{name}.{next_number[name]}"
        seen.add(new)
        result.append(new)
    return result


def names_as_text(columns: Iterable[object], *, rename: bool, where: str) -> list[str]:
    """Names of a frame's columns, which may be of any type, as text without surrounding blanks.

    Args:
        columns: the names.
        rename: repeats are renamed instead of refused.
        where: the table, for the message.

    Raises:
        DataError: names repeat and `rename` is off; the message says which names have the same text.
    """
    columns = list(columns)
    names = [str(column).strip() for column in columns]
    spelled: dict[str, dict[str, None]] = {}
    for column, name in zip(columns, names, strict=True):
        spelled.setdefault(name, {})[repr(column) if isinstance(column, str) else str(column)] = None
    alike = next(((name, list(ways)) for name, ways in spelled.items() if len(ways) > 1), None)
    if alike is not None and not rename:
        raise DataError(
            f"{where}: columns {' and '.join(alike[1])} have the same name as text, {alike[0]!r}; rename them, or use "
            "--rename-duplicates"
        )
    return unique_names(names, rename=rename, where=where)


def all_named(names: Sequence[str]) -> list[str]:
    """The names, where empty ones become c1, c2, ... by position, with an underscore appended if that is taken."""
    taken = set(names)
    result = []
    for i, name in enumerate(names):
        new = name or f"c{i + 1}"
        while not name and new in taken:
            new += "_"
        result.append(new)
    return result


def check_known(asked: Iterable[str], known: Sequence[str], *, option: str, where: str) -> None:
    """Check that every column that the user names exists.

    Raises:
        DataError: one does not; the message lists similar names and all columns.
    """
    present = set(known)
    for name in asked:
        if name not in present:
            lower = {other.lower(): other for other in known}
            close = [lower[match] for match in get_close_matches(name.lower(), list(lower), n=3)]
            hint = f"did you mean {quoted(close)}? " if close else ""
            raise DataError(f"{where}: {option} names no column {name!r}; {hint}the columns are {quoted(known)}")


def quoted(names: Sequence[str]) -> str:
    """The first names in quotation marks, and the number of further ones."""
    return listed([repr(name) for name in names], _SHOWN)
