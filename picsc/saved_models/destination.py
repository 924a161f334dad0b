"""The folder that a model is going to be saved in, checked before anything is computed."""

from __future__ import annotations

import os
from pathlib import Path

from picsc.errors import SettingsError


def check_folder(folder: str | Path, option: str) -> None:
    """Refuse a folder that a model cannot be saved in, before the computation.

    Args:
        folder: a folder that does not exist, or is empty.
        option: that named it, for messages.

    Raises:
        SettingsError: something is there, or the folder around it does not exist or cannot be written.
    """
    path = Path(folder)
    if not str(folder):
        raise SettingsError(f"{option} needs the name of a folder")
    try:
        taken = path.is_symlink() or (path.exists() and not (path.is_dir() and not any(path.iterdir())))
        parent = path.absolute().parent
        there = parent.is_dir()
    except OSError as error:
        raise SettingsError(f"{option} {folder}: {error.strerror or error}") from None
    if taken:
        raise SettingsError(f"{option} {folder}: it exists already; name a folder that does not")
    if not there:
        raise SettingsError(f"{option} {folder}: the folder {path.parent} does not exist; make it first")
    if not os.access(parent, os.W_OK):
        raise SettingsError(f"{option} {folder}: no permission to write in {path.parent}")
