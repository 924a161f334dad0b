"""Every file of docs/examples runs, where the library that it is about is installed."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "docs" / "examples").glob("*.py"))
PRINTS = {
    "lightning_fragments": r"fragment 1: not shifted\nfragment 2: not shifted\nfragment 3: shifted\n",
    "skorch_folds": r"accuracy on the training rows: 9\d\.\d percent\n",
}


@pytest.mark.parametrize("example", EXAMPLES, ids=[each.stem for each in EXAMPLES])
def test_an_example_runs_and_prints_what_it_should(example: Path) -> None:
    pytest.importorskip(example.stem.partition("_")[0])
    command = [sys.executable, "-W", "ignore", str(example)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(PRINTS[example.stem], done.stdout), done.stdout
