"""How many cores torch may use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep torch to one core inside.

    A small model's operations are shorter than waking a second thread, and on a busy machine waiting for it costs a
    hundred times as much; and sums over one thread do not depend on how many cores a machine has.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def solve(systems: Tensor, right: Tensor) -> Tensor:
    """Solutions of linear systems, one or a batch of them, on one core.

    Once `torch.set_num_threads` has been called, MKL's LU factorisation waits for ever, or fails, where torch already
    works on the matrices of a batch side by side.

    Args:
        systems: (..., n, n).
        right: (..., n) or (..., n, m).
    """
    with one_thread():
        solutions: Tensor = torch.linalg.solve(systems, right)
    return solutions
