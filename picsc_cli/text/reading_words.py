"""The way a file was read, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from picsc.reports.common import Choice, Reading

_EXPECTED = ("the default", "of the format")
_USUAL = {"encoding": ("utf-8",), "delimiter": (",",), "quote": ("double",), "decimal": ("point",), "header": ("yes",)}
"""Values that a reader of the report expects, by the name of the choice: they are shown with `--verbose` alone."""


def reading_line(reading: Reading, *, verbose: bool = False) -> str:
    """One line: `read as csv: encoding cp1252 (not UTF-8), delimiter ';' (the first 20 lines agree)`.

    Args:
        reading: how the file was read.
        verbose: every choice; else only those that are not what one would expect.

    Returns:
        Empty where there is nothing to say.
    """
    shown = [choice for choice in reading.choices if verbose or not _expected(choice)]
    words = ", ".join(f"{choice.name} {choice_words(choice)}" for choice in shown)
    kind = reading.format + (f", {reading.compression}" if reading.compression else "")
    if not words and not reading.compression and not verbose:
        return ""
    return f"read as {kind}" + (f": {words}" if words else "")


def _expected(choice: Choice) -> bool:
    return choice.how in _EXPECTED or choice.value.lower() in _USUAL.get(choice.name, ())


def choice_words(choice: Choice) -> str:
    """The value that was chosen, and how: `';' (told)`."""
    value = repr(choice.value) if choice.name in ("delimiter", "sheet") else choice.value
    return f"{value} ({choice.how})"
