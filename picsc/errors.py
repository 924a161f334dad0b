"""Errors that picsc raises on purpose, divided by their remedy.

A message names the thing, its value and the bound, and gives advice: "cannot cut 3 rows into 5 folds: need
2 <= k <= 3". The command line turns any `PicscError` into that one sentence and exit code 2; any other error is a bug.
"""

from __future__ import annotations


class PicscError(Exception):
    """Base of every error that picsc raises on purpose.

    Example:
        >>> import picsc
        >>> try:
        ...     picsc.audit([[1.0], [2.0]])
        ... except picsc.PicscError as error:
        ...     print(error)
        memory: 2 data rows are too few; an audit needs at least 4
    """


class SettingsError(PicscError):
    """An option or recipe value is out of range or contradicts another; change the setting.

    Example:
        >>> import picsc
        >>> try:
        ...     picsc.audit([[1.0], [2.0]], folds=0)
        ... except picsc.SettingsError as error:
        ...     print(error)
        folds=0: must be greater than or equal to 1
    """


class RecipeError(SettingsError):
    """Recipes cannot be run as they are; all their problems, one sentence each."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        """Store the sentences separately, since each is printed on a line of its own."""
        super().__init__("; ".join(problems))
        self.problems = problems

    def __reduce__(self) -> tuple[type[RecipeError], tuple[tuple[str, ...]]]:
        """Support pickling, so that a worker process can raise it."""
        return RecipeError, (self.problems,)


class NoReportYetError(Exception):
    """A command has done its share of a run, and the report is another one's; no error, but the end of the command."""


class DataError(PicscError):
    """The data cannot be used as they are; the message names file, column or row, and gives advice.

    Example:
        >>> import picsc
        >>> try:
        ...     picsc.audit("no.csv")
        ... except picsc.DataError as error:
        ...     print(error)
        no.csv: no such file
    """


class FewRowsError(DataError):
    """A table has fewer rows than the setting `min_table_rows` asks for."""


class NumericsError(PicscError):
    """A computation gave infinite numbers or NaN; the message names epoch, lambda and learning rate if they apply.

    Example:
        >>> import picsc
        >>> try:
        ...     picsc.PicscClassifier(lr=1e30).fit([[0.0], [1.0]] * 20, [0, 1] * 20)
        ... except picsc.NumericsError as error:
        ...     print(error)
        training left the finite numbers in epoch 1: lower lr or strength
    """

    def __init__(self, message: str, epoch: int | None = None) -> None:
        """Store the epoch in which training diverged, counted from 1; None if it is unknown."""
        super().__init__(message)
        self.epoch = epoch
