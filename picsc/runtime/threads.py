"""Limits on the number of threads of torch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit torch to one thread inside.

    The operations of a small model take less time than waking a second thread, and on a busy machine waiting for it
    takes a hundred times as long; and sums in one thread do not depend on the number of cores of a machine.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def solve(systems: Tensor, right: Tensor) -> Tensor:
    """Solutions of linear systems, one or a batch of them, in one thread.

    After a call of `torch.set_num_threads`, MKL's LU factorisation hangs or fails if torch already works on the
    matrices of a batch in parallel.

    Args:
        systems: (..., n, n) matrices.
        right: (..., n) or (..., n, m) right-hand sides.
    """
    with one_thread():
        solutions: Tensor = torch.linalg.solve(systems, right)
    return solutions
