"""How many cores torch may use, and what must not depend on it."""

from __future__ import annotations

import subprocess
import sys

SYSTEMS = """
import torch
from picsc.runtime.threads import solve
torch.set_num_threads(1)
torch.set_num_threads(2)
drawn = torch.randn(60, 281, 281, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
systems = drawn @ drawn.mT + 281 * torch.eye(281, dtype=torch.float64)
right = drawn[:, 0]
for _ in range(20):
    solutions = solve(systems, right)
left = (systems @ solutions[:, :, None])[:, :, 0] - right
assert float(left.abs().max()) < 1e-9
assert torch.get_num_threads() == 2
"""


def test_a_batch_of_systems_is_solved_after_the_number_of_threads_was_changed() -> None:
    """`torch.linalg.solve` alone waits for ever here, on processors where MKL factorises with more than one thread."""
    done = subprocess.run([sys.executable, "-c", SYSTEMS], capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")
