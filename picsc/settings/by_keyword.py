"""Settings from the keywords of a Python verb."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from picsc.settings.base import Settings, checked
from picsc.settings.in_python import in_keywords
from picsc.settings.option import Path, Setting, settings_of

S = TypeVar("S", bound=Settings)


def from_keywords(kind: type[S], verb: str, keywords: Mapping[str, Any], settings: S | None = None) -> S:
    """The settings that keywords make.

    Args:
        kind: settings of the verb.
        verb: audit, cv, compare or fed.
        keywords: by the names of `picsc.settings.keywords`; None leaves a setting that takes no None at its default.
            Names of columns and pieces may be of any type and become text: `target=3` is `target="3"`.
        settings: what holds where no keyword is given; None is the defaults.

    Raises:
        TypeError: a keyword is no setting of the verb.
        SettingsError: values are out of range, or do not go together.
    """
    known = {each.keyword: each for each in settings_of(kind, verb)}
    values: dict[str, Any] = {} if settings is None else settings.model_dump(exclude_unset=True)
    for name, value in keywords.items():
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            meant = f"; did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"{name!r} is no setting of {verb}{meant}")
        if value is not None or known[name].takes_none:
            _put(values, known[name], value)
    by_path = {each.path: each for each in known.values()}

    def subject(path: Path, value: object) -> str:
        return f"{by_path[path].keyword if path in by_path else '.'.join(path) or 'settings'}={value!r}"

    with in_keywords(kind, verb):
        return checked(kind, values, subject)


def _put(values: dict[str, Any], setting: Setting, value: Any) -> None:
    *tables, name = setting.path
    for table in tables:
        values = values.setdefault(table, {})
    listed = setting.is_list and isinstance(value, Iterable) and not isinstance(value, str)
    if setting.names_data and value is not None:
        value = [str(each) for each in value] if listed else value if setting.is_list else str(value)
    values[name] = tuple(value) if listed else value
