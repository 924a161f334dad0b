"""What can go wrong, by what the user can do about it.

A message names the thing, its value and the bound, and says what to do: "cannot cut 3 rows into 5 folds: need
2 <= k <= 3". The command line turns any `PicscError` into that one sentence and exit code 2; anything else is our bug.
"""

from __future__ import annotations


class PicscError(Exception):
    """Base of every error that picsc raises on purpose."""


class SettingsError(PicscError):
    """An option or recipe value is out of range or contradicts another; change the setting."""


class RecipeError(SettingsError):
    """Recipes that cannot be run as they are; all their problems, one sentence each."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        """Keep the sentences apart, since each is worth a line of its own."""
        super().__init__("; ".join(problems))
        self.problems = problems

    def __reduce__(self) -> tuple[type[RecipeError], tuple[tuple[str, ...]]]:
        """So that it survives the way from a worker process."""
        return RecipeError, (self.problems,)


class DataError(PicscError):
    """The data cannot be used as they are; the message says where (file, column, row) and what to do."""


class NumericsError(PicscError):
    """A computation left the finite numbers; the message names epoch, lambda and learning rate where they apply."""

    def __init__(self, message: str, epoch: int | None = None) -> None:
        """Keep the epoch, 1 the first, in which training diverged."""
        super().__init__(message)
        self.epoch = epoch
