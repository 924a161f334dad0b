"""What a real client remembers between rounds, in a folder of its own, so that it never leaves the client.

A client that is started anew goes on with what its last process kept.
"""

from __future__ import annotations

import re
from pathlib import Path

from safetensors.torch import load_file, save_file
from torch import Tensor

from picsc.errors import DataError
from picsc.runtime.whole_files import written_whole


def remembered(folder: Path, run: str, last: int) -> dict[str, Tensor]:
    """What the client kept in the newest round up to its last one.

    Args:
        folder: of the client.
        run: name of the run.
        last: number of the last round in which it took part; -1 for none.

    Raises:
        DataError: it took part, and kept nothing here.
    """
    if last < 0:
        return {}
    rounds = [number for number in _rounds(folder, run) if number <= last]
    if not rounds:
        raise DataError(
            f"folder {folder} does not hold what this client kept after round {last + 1}: start it with the folder "
            "that it had, or start the federation anew"
        )
    return load_file(_file(folder, run, max(rounds)))


def remember(folder: Path, run: str, number: int, kept: dict[str, Tensor], last: int) -> None:
    """Keep what the client has after a round; that of its last round stays, in case this one is asked for again.

    Args:
        folder: of the client.
        run: name of the run.
        number: of the round.
        kept: tensors by name.
        last: number of the last round before in which it took part; -1 for none.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with written_whole(_file(folder, run, number)) as part:
        save_file({name: each.contiguous() for name, each in kept.items()}, part)
    for old in _rounds(folder, run):
        if old not in (number, last):
            _file(folder, run, old).unlink(missing_ok=True)


def _file(folder: Path, run: str, number: int) -> Path:
    return folder / f"{run}-{number}.safetensors"


def _rounds(folder: Path, run: str) -> list[int]:
    pattern = re.compile(re.escape(run) + r"-([0-9]+)\.safetensors")
    names = [pattern.fullmatch(path.name) for path in folder.glob("*.safetensors")] if folder.is_dir() else []
    return [int(found[1]) for found in names if found]
