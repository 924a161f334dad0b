"""The recipes that come with picsc, by name: in the wheel as package data, in a clone in the folder `recipes`."""

from __future__ import annotations

import difflib
from pathlib import Path

from picsc.errors import RecipeError

_INSIDE = Path(__file__).parent
_FOLDERS = (_INSIDE / "files", _INSIDE.parents[1] / "recipes")
"""Where they may lie: pyproject.toml puts them into the wheel as `picsc/recipes/files`."""


def bundled() -> dict[str, Path]:
    """Paths of the recipes that come with picsc, by name, in the order of the names."""
    folder = next((folder for folder in _FOLDERS if folder.is_dir()), None)
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))} if folder is not None else {}


def located(given: Path) -> Path:
    """The file that somebody means who gives a path, or the name of a recipe that comes with picsc.

    A file of that path goes first, so that no name can hide one.

    Raises:
        RecipeError: it is a single word, and neither a file nor such a name.
    """
    name = str(given)
    if given.exists() or given.name != name or given.suffix:
        return given
    found = bundled()
    if name in found:
        return found[name]
    near = difflib.get_close_matches(name, found, n=1)
    meant = f"; did you mean {near[0]}?" if near else ""
    what = "there is no file of this name, and no recipe that comes with picsc (picsc recipe list)"
    raise RecipeError((f"{name}: {what}{meant}",))
