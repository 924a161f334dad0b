"""Options: a setting's names and help on the command line and in Python, declared once, on the setting's field.

`picsc.settings.generate` writes the options of the commands, the keywords of the Python verbs, the schema of recipes
and `docs/settings.md` from these declarations. pydantic keeps them as metadata of the field and does not use them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from inspect import get_annotations
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

PANELS = ("Data", "Pieces", "Clients", "Target", "Verdict", "Methods", "Weights", "Training", "Run", "Output")
"""Headings of `--help`, in its order."""
Path = tuple[str, ...]
"""Names of a setting from the outside in: `("cut", "folds")`."""


@dataclass(frozen=True, slots=True)
class Option:
    """One setting on the command line and in Python."""

    help: str
    """One line of `--help`; `{default}` stands for the setting's default."""
    metavar: str = ""
    """Name of the option's value in `--help`; empty for a switch."""
    panel: str = "Data"
    """Heading in `--help`, one of `PANELS`."""
    flag: str = ""
    """Name on the command line; empty is `--` and the field's name with hyphens."""
    keyword: str = ""
    """Name of the Python keyword; empty is the field's name."""
    turns: bool = True
    """The value that a switch gives the setting."""
    opposite: str = ""
    """Name of the switch that gives it the other value; empty where there is none."""
    after: str = ""
    """Path, with dots, of the setting that it follows in `--help`; empty leaves it where its field stands."""
    verbs: Mapping[str, Mapping[str, Any] | None] = field(default_factory=dict)
    """By verb, what is different for it; None where the verb does not take the setting."""

    def of(self, verb: str) -> Option | None:
        """The option of one verb; None where the verb does not take the setting."""
        changes = self.verbs.get(verb, {})
        return None if changes is None else replace(self, **changes)


def flag_of(kind: type[BaseModel], path: Path) -> str:
    """Name of a setting on the command line, whatever the verb.

    Args:
        kind: settings that the path leads into; what it does not know is spelled as it stands.
        path: of the setting.
    """
    *tables, name = path
    model: Any = kind
    for table in tables:
        info = model.model_fields.get(table) if model is not None else None
        inner = None if info is None else info.annotation
        model = inner if isinstance(inner, type) and issubclass(inner, BaseModel) else None
    info = None if model is None else model.model_fields.get(name)
    return _flag(None if info is None else _declared(info), name)


def _declared(info: FieldInfo) -> Option | None:
    """The option of a field; None for a table of settings."""
    return next((each for each in info.metadata if isinstance(each, Option)), None)


def _flag(option: Option | None, name: str) -> str:
    """The option's name on the command line, or the field's own."""
    return (option.flag if option is not None else "") or "--" + name.replace("_", "-")


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of a verb: a leaf of its tree of settings."""

    path: Path
    info: FieldInfo
    """pydantic's: annotation and default."""
    option: Option
    model: type[BaseModel]
    """The class that declares the field."""

    @property
    def name(self) -> str:
        """The path with dots, as `picsc config` shows it."""
        return ".".join(self.path)

    @property
    def flag(self) -> str:
        """Name on the command line."""
        return _flag(self.option, self.path[-1])

    @property
    def keyword(self) -> str:
        """Name of the Python keyword."""
        return self.option.keyword or self.path[-1]

    @property
    def is_switch(self) -> bool:
        """True if the option takes no value."""
        return self.info.annotation is bool

    @property
    def is_list(self) -> bool:
        """True if the value is a list of names."""
        annotation = self.info.annotation
        return any(get_origin(each) is tuple for each in (annotation, *get_args(annotation)))

    @property
    def choices(self) -> tuple[str, ...]:
        """The words that the setting chooses from, without those that also stand for a number or a file."""
        return tuple(dict.fromkeys(_words(self.info.annotation)))

    @property
    def names_data(self) -> bool:
        """True if the value names columns or pieces, whose names in a frame may be numbers."""
        return self.option.metavar.startswith(("COL", "PIECE"))

    @property
    def takes_none(self) -> bool:
        """True if None is a value of the setting."""
        return type(None) in get_args(self.info.annotation)

    @property
    def help(self) -> str:
        """The line of `--help`, with the default in it."""
        return self.option.help.format(default=self.info.default)


def settings_of(kind: type[BaseModel], verb: str, path: Path = ()) -> Iterator[Setting]:
    """Every setting of a verb that has an option, in the order of the fields.

    Args:
        kind: settings of the verb, or a table of them.
        verb: audit, cv, compare or fed.
        path: of the table; empty for the settings themselves.
    """
    for name, info in kind.model_fields.items():
        inner = info.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from settings_of(inner, verb, (*path, name))
            continue
        declared = _declared(info)
        option = None if declared is None else declared.of(verb)
        if option is not None:
            yield Setting((*path, name), info, option, _declares(kind, name))


def _declares(kind: type[BaseModel], name: str) -> type[BaseModel]:
    """The class that a field is declared in: the settings themselves, or one that they inherit it from."""
    bases = (each for each in kind.__mro__ if issubclass(each, BaseModel))
    return next(each for each in bases if name in get_annotations(each))


def _words(annotation: Any) -> Iterator[str]:
    """The texts that an annotation names, however deep."""
    if get_origin(annotation) is Literal:
        yield from (word for word in get_args(annotation) if isinstance(word, str))
    else:
        for part in get_args(annotation):
            yield from _words(part)


def in_help_order(settings: Iterator[Setting]) -> list[Setting]:
    """Settings by the panels of `--help`, each after the one that it says it follows."""
    found = list(settings)
    for setting in [each for each in found if each.option.after]:
        before = next((i for i, each in enumerate(found) if each.name == setting.option.after), None)
        if before is not None:
            place = found.index(setting)
            found.insert(before + (place > before), found.pop(place))
    return sorted(found, key=lambda each: PANELS.index(each.option.panel))
