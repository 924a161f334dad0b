"""Versions in a report's manifest."""

import os
import subprocess
import sys

import torch

from picsc.runtime.versions import versions


def test_the_processor_is_named_as_torch_uses_it() -> None:
    assert versions()["cpu"] == torch.backends.cpu.get_cpu_capability()
    told = subprocess.run(
        [sys.executable, "-c", "from picsc.runtime.versions import versions; print(versions()['cpu'])"],
        env={**os.environ, "ATEN_CPU_CAPABILITY": "default"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert told.stdout == "DEFAULT\n"
