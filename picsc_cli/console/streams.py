"""Standard output and standard error: their characters, and writing to them without a traceback.

The report goes to standard output and everything else to standard error.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from picsc.errors import SettingsError
from picsc_cli.console.printable import is_unicode, printable
from picsc_cli.console.safe import no_commands


def prepare() -> None:
    """Let a stream whose encoding lacks a character show `?` instead of failing (Windows code pages, ASCII)."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not is_unicode(stream.encoding):
            stream.reconfigure(errors="replace")


def warn(sentence: str) -> None:
    """One line on standard error, `picsc: sentence`; control characters are shown escaped."""
    write_stderr(f"picsc: {printable(sentence)}\n")


def write_lines(text: str) -> None:
    """Write lines for people on standard output; none of them is a command of a pipeline."""
    write_stdout(no_commands(text))


def write_stdout(text: str) -> None:
    """Write and flush; when the reader has gone (`| head -1`), end quietly.

    Raises:
        SettingsError: standard output cannot be written to, for another reason.
    """
    if sys.stdout is None:  # closed by the caller
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        _discard(sys.stdout)
    except OSError as error:
        _discard(sys.stdout)
        raise SettingsError(f"cannot write the report to standard output: {error.strerror or error}") from None


def write_stderr(text: str) -> None:
    """Write and flush; a reader that has gone, or a stream that cannot be written to, is ignored."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        _discard(sys.stderr)


def _discard(stream: TextIO) -> None:
    """Point a stream at nothing, so that the interpreter's own flush at exit does not fail again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


@contextmanager
def progress(*, quiet: bool) -> Iterator[Callable[[str], None] | None]:
    """A spinner on standard error that takes a line of text, or None where nobody would see it."""
    nobody = os.environ.get("CI") or os.environ.get("TERM") == "dumb"
    if quiet or nobody or sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.text import Text

    spinner = "dots" if is_unicode(sys.stderr.encoding) else "line"
    with Console(stderr=True).status(Text("reading"), spinner=spinner) as status:
        yield lambda line: status.update(Text(printable(line)))
