"""Versions of what computed a report."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version


def versions() -> dict[str, str]:
    """Of Python, of picsc and of every package that computes."""
    packages = ("picsc", "numpy", "scipy", "pandas", "scikit-learn", "torch")
    return {"python": platform.python_version(), **{name: _version(name) for name in packages}}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
