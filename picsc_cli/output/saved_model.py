"""The model that `--save-model` asks for: checked before anything is computed, written after the report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from picsc.errors import SettingsError
from picsc.saved_models.destination import check_folder
from picsc_cli.console import streams
from picsc_cli.options import common as options

if TYPE_CHECKING:
    from picsc.saved_models.refitted import Refitted

Name = TypeVar("Name", bound=str)


@dataclass(frozen=True, slots=True)
class Saved(Generic[Name]):
    """The model to save."""

    folder: Path
    method: Name | None
    """None is the method that the report recommends."""


def saved_model(
    folder: Path | None, method: str | None, known: Sequence[Name], *, in_shard: bool
) -> Saved[Name] | None:
    """What `--save-model` and `--save-method` ask for; None where nothing is saved.

    Args:
        folder: of `--save-model`.
        method: of `--save-method`.
        known: methods of the command.
        in_shard: the command makes a share of the parts, and no report that could decide.

    Raises:
        SettingsError: they contradict each other, or the folder cannot be written.
    """
    options.refuse_contradictions(
        (method is not None and folder is None, "--save-method goes with --save-model DIR"),
        (in_shard and folder is not None, "--save-model goes with the call that makes the report"),
    )
    if folder is None:
        return None
    found = next((each for each in known if each == method), None)
    if method is not None and found is None:
        raise SettingsError(f"--save-method {method!r}: must be one of {', '.join(known)}")
    check_folder(folder, "--save-model")
    return Saved(folder, found)


def write_model(saved: Saved[Name], train: Callable[[Name | None], Refitted], *, quiet: bool) -> None:
    """Train the model, write it, and say so.

    Args:
        saved: where to, and which method.
        train: from the method to its model.
        quiet: no progress.
    """
    from picsc.saved_models.folder import save_model  # loads torch

    with streams.progress(quiet=quiet) as progress:
        if progress is not None:
            progress("training the model that is saved")
        made = train(saved.method)
        save_model(made.model, saved.folder, made.card, option="--save-model")
    why = f", {made.why}," if made.recommended else ""
    streams.warn(f"{made.method}{why} was trained on {made.rows} and saved in {saved.folder}")
