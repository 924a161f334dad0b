"""The folder for what can be made again."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def cache_folder() -> Path:
    """The platform's folder for what can be made or fetched again; picsc keeps its own in `picsc` there."""
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return Path(local) if local else Path.home() / "AppData" / "Local"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    cache = os.environ.get("XDG_CACHE_HOME", "")
    return Path(cache) if Path(cache).is_absolute() else Path.home() / ".cache"  # a relative one is to be ignored
