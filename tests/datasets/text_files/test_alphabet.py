"""LEAF's alphabet: the codes do not depend on which readers were imported."""

import subprocess
import sys


def test_the_codes_need_no_other_module() -> None:
    script = "from picsc.datasets.text_files.alphabet import letter_codes; print(letter_codes('\\n !~').tolist())"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[1, 2, 3, 0]"
