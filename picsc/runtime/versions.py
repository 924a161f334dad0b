"""Versions of Python and of the packages behind a report, and the kind of processor."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

import torch


def versions() -> dict[str, str]:
    """Versions of Python, of picsc and of every package that affects numbers, and the kind of processor.

    Kernels for other kinds (AVX2, AVX512, ...) round in another order: the same seed gives the same bytes on one kind.
    """
    packages = ("picsc", "numpy", "scipy", "pandas", "scikit-learn", "torch")
    return {
        "python": platform.python_version(),
        **{name: _version(name) for name in packages},
        "cpu": torch.backends.cpu.get_cpu_capability(),
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
