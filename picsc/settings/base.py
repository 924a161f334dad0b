"""The base class of settings, and their construction with all problems reported at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from picsc.errors import SettingsError
from picsc.settings.option import Path, flag_of
from picsc.settings.problems import Problem, problems


class Settings(BaseModel):
    """Values that never change and know all their keys."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        str_strip_whitespace=False,
        allow_inf_nan=False,
        protected_namespaces=(),  # before 2.10, pydantic warns of fields named model_...
    )

    @field_validator("*", mode="before")
    @classmethod
    def _no_truth_for_a_number(cls, value: object, info: ValidationInfo) -> object:
        """A file's `seed: true` is a slip, and no 1."""
        if isinstance(value, bool) and not _takes_truth(cls.model_fields[str(info.field_name)].annotation):
            raise PydanticCustomError("no_truth", "a value, not true or false")
        return value


def _takes_truth(annotation: object) -> bool:
    return annotation is bool or any(map(_takes_truth, get_args(annotation)))


S = TypeVar("S", bound=Settings)
Subject = Callable[[Path, object], str]
"""Path and value of a setting as the beginning of a sentence: `--folds 1`, or `folds=1` in Python."""


def validated(kind: type[S], **values: object) -> S:
    """Build settings and report all their problems at once.

    Raises:
        SettingsError: one sentence per problem, joined by "; ".
    """
    return checked(kind, values, lambda path, value: f"{flag_of(kind, path) if path else '--settings'} {value!r}")


def checked(kind: type[S], values: Mapping[str, object], subject: Subject) -> S:
    """Build settings and report all their problems at once, each under the name that it has where it was given.

    Args:
        kind: of the verb.
        values: as `picsc.settings` names them, tables inside.
        subject: spells a setting and its value; the path is empty for the settings as a whole.

    Raises:
        SettingsError: one sentence per problem, joined by "; ".
    """
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        raise SettingsError("; ".join(_sentence(problem, subject) for problem in problems(error, values))) from None


def _sentence(problem: Problem, subject: Subject) -> str:
    """One problem as a sentence that starts with the setting's name."""
    if problem.contradiction:
        return problem.requirement
    names = tuple(part for part in problem.path if isinstance(part, str))
    return f"{subject(names, problem.value)}: must be {problem.requirement}"
