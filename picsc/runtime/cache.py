"""The platform's cache folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def cache_folder() -> Path:
    """The platform's folder for files that can be made or fetched again; picsc uses `picsc` in it."""
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return Path(local) if local else Path.home() / "AppData" / "Local"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    cache = os.environ.get("XDG_CACHE_HOME", "")
    return (
        Path(cache) if Path(cache).is_absolute() else Path.home() / ".cache"
    )  # the XDG standard ignores relative paths
