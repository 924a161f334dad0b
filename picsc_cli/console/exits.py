"""Exit codes: 0 fine, 1 finding, 2 the user's input could not be used, 3 our bug, 130 and 143 interrupted."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

import typer

from picsc.errors import NoReportYetError, PicscError, RecipeError
from picsc_cli.console.printable import printable
from picsc_cli.console.safe import no_commands
from picsc_cli.console.signals import Terminated, termination
from picsc_cli.console.streams import warn, write_stderr

FINE, FINDING, UNUSABLE, BUG, INTERRUPTED, TERMINATED = 0, 1, 2, 3, 130, 143


def leave(done: SystemExit) -> NoReturn:
    """End the process; at once if torch is loaded, since taking its modules apart costs more than a second.

    Nothing else is to do by then: reports are written and renamed, and both streams are flushed here.
    """
    if "torch" not in sys.modules or not isinstance(done.code, int):
        raise done
    with suppress(OSError):  # a reader that has gone was dealt with when the report was written
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(done.code)


@contextmanager
def handle_errors(interrupted: str = "interrupted") -> Iterator[None]:
    """Turn an error inside into one line on standard error and an exit code.

    A `PicscError` is one that the user can mend: its message, exit code 2. Any other is our bug: the traceback, exit
    code 3.

    Args:
        interrupted: message for a user, or a machine, that ends the command.
    """
    try:
        with termination():
            yield
    except typer.Exit:
        raise
    except NoReportYetError as end:
        warn(str(end))
        raise typer.Exit(FINE) from None
    except RecipeError as error:
        for problem in error.problems:
            warn(problem)
        raise typer.Exit(UNUSABLE) from None
    except PicscError as error:
        warn(str(error))
        raise typer.Exit(UNUSABLE) from None
    except KeyboardInterrupt as signal:
        warn(interrupted)
        raise typer.Exit(TERMINATED if isinstance(signal, Terminated) else INTERRUPTED) from None
    except Exception:  # noqa: BLE001 - the one place that separates our bugs from the user's input
        for line in traceback.format_exc().splitlines():  # its last ones may hold names from the data
            write_stderr(no_commands(printable(line)) + "\n")
        warn("this is a bug in picsc; please report it with the lines above, the command and `picsc --version`")
        raise typer.Exit(BUG) from None


def interrupted_line(run_dir: Path | None) -> str:
    """The message of an interrupted command on the parts that are done."""
    where = "" if run_dir is None else f" in {run_dir}"
    return f"interrupted; finished parts are kept{where}, and the same command with --resume goes on"
