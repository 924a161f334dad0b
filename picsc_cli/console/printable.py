"""Text that a stream can show and a file can hold."""

from __future__ import annotations

import codecs

from picsc.phrases import COMMAND, printable

__all__ = ["COMMAND", "is_unicode", "printable", "storable"]


def is_unicode(encoding: str | None) -> bool:
    """True if text in this encoding can hold every character; an unknown encoding cannot."""
    try:
        return codecs.lookup(encoding or "ascii").name.startswith("utf")
    except LookupError:
        return False


def storable(text: str) -> str:
    r"""Text that UTF-8 can hold: a lone surrogate, as in the name of a file that is not UTF-8, shown as `\udcff`."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
