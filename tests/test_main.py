"""`python -m picsc` is the command."""

import subprocess
import sys


def test_the_library_runs_as_a_module() -> None:
    done = subprocess.run([sys.executable, "-m", "picsc", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("picsc ")
