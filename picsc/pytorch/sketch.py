"""Squared scores of large models as a short vector per row whose differences have nearly the same norms.

Letters: r rows, d parameters, p of one tensor, m entries of a sketch.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

ENTRIES = 1 << 14
"""Entries of a sketch, m; the norm of a difference is right to about 1 / sqrt(2 m)."""
EXACT = 1 << 28
"""Floats that sums over 100 ways to divide the rows may take while they are exact."""
ROW_FLOATS = 1 << 26
"""Floats of squared scores that are held at once."""


class Sketch:
    """Random signed sums of a vector's entries, the same for every vector; the vector itself where that is short.

    Args:
        sizes: numbers of parameters of every tensor, which add up to d.
        seed: of the signs.
    """

    def __init__(self, sizes: Sequence[int], *, seed: int) -> None:
        """Draw the signs."""
        d = sum(sizes)
        self.exact = 100 * d <= EXACT
        self.size = d if self.exact else ENTRIES
        """Length of a sketch."""
        self.rows = max(1, ROW_FLOATS // d)
        """Rows whose squared scores may be held at once."""
        generator = torch.Generator().manual_seed(seed)
        self.signs = (
            [] if self.exact else [torch.randint(2, (p,), generator=generator, dtype=torch.int8) for p in sizes]
        )

    def of(self, parts: Sequence[Tensor]) -> Tensor:
        """Sketches of some rows.

        Args:
            parts: squared scores (r, p), one entry per tensor.

        Returns:
            (r, m).
        """
        if self.exact:
            return torch.cat(list(parts), 1)
        total = parts[0].new_zeros(len(parts[0]), ENTRIES)
        self.signs = [signs.to(total.device) for signs in self.signs]
        start = 0
        for values, signs in zip(parts, self.signs, strict=True):
            signed = values * (signs.to(values) * 2 - 1)
            at = torch.arange(start, start + signed.shape[1], device=values.device) % ENTRIES
            total.index_add_(1, at, signed)
            start += signed.shape[1]
        return total
