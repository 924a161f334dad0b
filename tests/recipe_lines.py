"""Sentences on recipes without the line they begin with."""

from __future__ import annotations

import re


def unnumbered(problem: str) -> str:
    """`x.yaml:3: cut: ...` as `x.yaml: cut: ...`."""
    return re.sub(r"^(.*?\.yaml):\d+: ", r"\1: ", problem)
