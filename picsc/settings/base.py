"""The base class of settings, and their construction with all problems reported at once."""

from __future__ import annotations

from typing import TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from picsc.errors import SettingsError
from picsc.settings.option import flag_of
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


def validated(kind: type[S], **values: object) -> S:
    """Build settings and report all their problems at once.

    Raises:
        SettingsError: one sentence per problem, joined by "; ".
    """
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        raise SettingsError("; ".join(_sentence(problem, kind) for problem in problems(error, values))) from None


def _sentence(problem: Problem, kind: type[Settings]) -> str:
    """One problem as a sentence that starts with the option's name."""
    if problem.contradiction:
        return problem.requirement
    names = tuple(part for part in problem.path if isinstance(part, str))
    return f"{flag_of(kind, names) if names else '--settings'} {problem.value!r}: must be {problem.requirement}"
