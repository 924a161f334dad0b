"""SHA-256 digests of files."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path


def digest(digests: Sequence[str]) -> str:
    """The digest of several files: that of the only one, or else the SHA-256 of their digests in this order."""
    return digests[0] if len(digests) == 1 else hashlib.sha256("\n".join(digests).encode()).hexdigest()


def file_digest(path: Path) -> str:
    """The SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
