"""Versions of Python and of the packages behind a report."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version


def versions() -> dict[str, str]:
    """Versions of Python, of picsc and of every package that affects numbers."""
    packages = ("picsc", "numpy", "scipy", "pandas", "scikit-learn", "torch")
    return {"python": platform.python_version(), **{name: _version(name) for name in packages}}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
