"""Versions of Python and of the packages behind a report, a digest of picsc's code, and the kind of processor."""

from __future__ import annotations

import hashlib
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch

SHOWN = 12
"""Hexadecimal digits of the digest of the code."""


def versions() -> dict[str, str]:
    """Versions of Python, of picsc and of every package that affects numbers, and the kind of processor.

    Reading: the version of picsc is the same for many states of its code, so `picsc_code` tells these apart: a run is
        resumed by the code that began it. Kernels for other kinds of processors (AVX2, AVX512, ...) round in another
        order: the same seed gives the same bytes on one kind.
    """
    packages = ("picsc", "numpy", "scipy", "pandas", "scikit-learn", "torch")
    return {
        "python": platform.python_version(),
        **{name: _version(name) for name in packages},
        "picsc_code": code_digest(Path(__file__).parents[1]),
        "cpu": torch.backends.cpu.get_cpu_capability(),
    }


@cache
def code_digest(package: Path) -> str:
    """Digest of a package's source files, by their names and contents; about 10 ms for all of picsc.

    Args:
        package: folder of the package.

    Returns:
        `SHOWN` hexadecimal digits; "unknown" where the package has no source files.
    """
    files = sorted((file.relative_to(package).as_posix(), file) for file in package.rglob("*.py"))
    found = hashlib.sha256()
    for name, file in files:
        content = file.read_bytes()
        found.update(f"{name}\0{len(content)}\0".encode())
        found.update(content)
    return found.hexdigest()[:SHOWN] if files else "unknown"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
