"""What all settings have in common, and building them with all their problems at once."""

from __future__ import annotations

from typing import TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from picsc.errors import SettingsError
from picsc.settings.problems import Problem, problems


class Settings(BaseModel):
    """Values that never change and know all their keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=False, allow_inf_nan=False)

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
_OPTIONS = {"strength": "lambda", "kind": "penalty", "methods": "method", "proximal": "mu", "space": "weigh-on"}
"""Settings whose option on the command line has another name; all others have their own."""


def validated(kind: type[S], **values: object) -> S:
    """Build settings and report all their problems at once.

    Raises:
        SettingsError: one sentence per problem, joined by "; ".
    """
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        raise SettingsError("; ".join(_sentence(problem) for problem in problems(error, values))) from None


def _sentence(problem: Problem) -> str:
    """One problem as a sentence that starts with the option's name."""
    if problem.contradiction:
        return problem.said
    names = [part for part in problem.path if isinstance(part, str)]
    option = "--" + _OPTIONS.get(names[-1], names[-1]).replace("_", "-") if names else "settings"
    return f"{option} {problem.value!r}: must be {problem.said}"
