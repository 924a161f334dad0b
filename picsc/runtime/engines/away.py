"""A unit on another machine, with the files of a run folder that it needs and those that it made.

A worker that sees the run folder itself, because machines share it, works in there. Any other gets the files of its
unit's unfinished work, works in a temporary folder, and sends back what is new.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar
from uuid import uuid4

from picsc.errors import SettingsError
from picsc.runtime.whole_files import written_whole

S = TypeVar("S")
U = TypeVar("U")
R = TypeVar("R")
Files = Mapping[str, bytes]
"""Contents of files by their paths below a folder."""


@dataclass(frozen=True, slots=True)
class Sent:
    """The run folder of a unit as a worker gets it."""

    folder: Path | None
    """Path on the machine that sends; None without a run folder."""
    mark: str
    """Name of a file in there, by which a machine that shares the folder knows it."""
    files: Files = field(default_factory=dict)
    """The unit's unfinished work."""


@contextmanager
def marked(folder: Path | None) -> Iterator[str]:
    """A new name of a file that is in the folder for as long as the context; empty without a folder.

    Raises:
        SettingsError: the folder cannot be written to.
    """
    if folder is None:
        yield ""
        return
    mark = folder / f".picsc-{uuid4().hex}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        mark.touch()
    except OSError as error:
        raise SettingsError(f"cannot use run folder {folder}: {error.strerror or error}") from None
    try:
        yield mark.name
    finally:
        with suppress(OSError):
            mark.unlink()


def files_below(folder: Path, own: str) -> Files:
    """Contents of the finished files of one folder below another, by their paths below the latter."""
    found = (file for file in sorted((folder / own).rglob("*")) if file.is_file() and not file.name.startswith("."))
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in found if file.name != "lock"}


def store(files: Files, folder: Path) -> None:
    """Write files into a folder, each whole or not at all.

    Raises:
        SettingsError: the folder cannot be written to.
    """
    for name, content in files.items():
        try:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            with written_whole(folder / name) as part:
                part.write_bytes(content)
        except OSError as error:
            raise SettingsError(f"cannot keep {name} in run folder {folder}: {error.strerror or error}") from None


def run_away(function: Callable[[S, Path | None, U], R], shared: S, sent: Sent, unit: U) -> tuple[R, Files]:
    """Run a unit where it was sent to.

    Args:
        function: of what all units share, the run folder, and the unit.
        shared: by all units.
        sent: the run folder.
        unit: the unit.

    Returns:
        The result, and the files that the unit made and that the machine which sent it does not have yet.
    """
    if sent.folder is None or (sent.folder / sent.mark).is_file():
        return function(shared, sent.folder, unit), {}
    with TemporaryDirectory(prefix="picsc-") as temporary:
        folder = Path(temporary)
        store(sent.files, folder)
        result = function(shared, folder, unit)
        made = files_below(folder, "")
        return result, {name: content for name, content in made.items() if sent.files.get(name) != content}
