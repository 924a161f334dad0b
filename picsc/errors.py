"""What can go wrong, by what the user can do about it.

A message names the thing, its value and the bound, and says what to do: "cannot cut 3 rows into 5 folds: need
2 <= k <= 3". The command line turns any `PicscError` into that one sentence and exit code 2; anything else is our bug.
"""


class PicscError(Exception):
    """Base of every error that picsc raises on purpose."""


class SettingsError(PicscError):
    """An option or recipe value is out of range or contradicts another; change the setting."""


class DataError(PicscError):
    """The data cannot be used as they are; the message says where (file, column, row) and what to do."""


class NumericsError(PicscError):
    """A computation left the finite numbers; the message names epoch, lambda and learning rate where they apply."""
