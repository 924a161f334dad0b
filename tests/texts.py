"""Bags of words whose classes use different words, for tests."""

import numpy as np

from picsc.datasets.texts import TokenSet


def bags(n: int = 120, *, shared: int = 10, own: int = 5, width: int = 12, seed: int = 0) -> TokenSet:
    """Rows of 4 to `width` words, half of them of their class and half of both; the owners take turns."""
    rng = np.random.default_rng(seed)
    labels, lengths = rng.integers(0, 2, n), rng.integers(4, width + 1, n)
    of = np.repeat(labels, lengths)
    words = np.where(rng.random(len(of)) < 0.5, rng.integers(0, shared, len(of)), shared + own * of)
    words = words + np.where(words >= shared, rng.integers(0, own, len(of)), 0) + 1
    vocabulary = tuple(f"w{i}" for i in range(shared + 2 * own))
    return TokenSet(
        "bags", "memory", "words", vocabulary, words.astype(np.uint8), np.cumsum(lengths) - lengths, lengths, labels,
        ("bad", "good"), np.arange(n) % 3, ("a", "b", "c"), np.empty(0, np.int64), "00",
    )  # fmt: skip
