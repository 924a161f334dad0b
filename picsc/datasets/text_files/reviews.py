"""Reviews as bags of words in svmlight files, with one client per domain.

Letters: n reviews, t words kept.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.datasets import load_svmlight_file

from picsc.datasets.texts import TokenSet, checked, smallest_codes
from picsc.errors import DataError
from picsc.runtime.digests import digest, file_digest

LONGEST = 512
"""Most words of a bag; from a longer one, evenly spaced words are kept, so that the shares of words stay the same."""
TRAIN, TEST = "_train.svmlight", "_test.svmlight"


def read_reviews(folder: Path, name: str) -> TokenSet:
    """Read DOMAIN_train.svmlight and DOMAIN_test.svmlight of every domain.

    Args:
        folder: folder of the files; a line is a class, then `word:count` with the number of a word.
        name: name of the set.

    Returns:
        Training rows first, domain by domain in the order of their names; the test files are the official test part.
        Words have their numbers as names and are repeated by count.

    Raises:
        DataError: there is no such file, a test file has no training file, or a count is no whole number.
    """
    domains = sorted(path.name.removesuffix(TRAIN) for path in folder.glob(f"*{TRAIN}"))
    alone = {path.name.removesuffix(TEST) for path in folder.glob(f"*{TEST}")} - set(domains)
    if not domains or alone:
        missing = sorted(alone)[0] if alone else "DOMAIN"
        raise DataError(f"{folder}: there is no {missing}{TRAIN} in it; put the training reviews of every domain there")
    parts = [(i, folder / f"{domain}{TRAIN}") for i, domain in enumerate(domains)]
    tested = [(i, folder / f"{domain}{TEST}") for i, domain in enumerate(domains)]
    parts += [(i, path) for i, path in tested if path.is_file()]
    read = [_read(path) for _, path in parts]
    labels, classes = _classes([y for _, y in read])
    lowest = min(int(bags.indices.min(initial=1)) for bags, _ in read)
    highest = max(int(bags.indices.max(initial=1)) for bags, _ in read)
    texts, lengths = zip(*(_bags(bags, 1 - lowest) for bags, _ in read), strict=True)
    rows = np.concatenate(lengths)
    sizes = [len(y) for _, y in read]
    return checked(
        TokenSet(
            name=name,
            source=str(folder),
            unit="words",
            vocabulary=tuple(str(i) for i in range(lowest, highest + 1)),
            text=smallest_codes(np.concatenate(texts), highest - lowest + 1),
            starts=np.cumsum(rows) - rows,
            lengths=rows,
            labels=labels,
            classes=classes,
            owners=np.repeat([i for i, _ in parts], sizes).astype(np.int64),
            clients=tuple(domains),
            test=np.arange(sum(sizes[: len(domains)]), len(rows)),
            sha256=digest([file_digest(path) for _, path in parts]),
        )
    )


def _read(path: Path) -> tuple[csr_matrix, NDArray[np.float64]]:
    """Counts (n, words), whose columns are the numbers of words in the file, and classes (n,)."""
    try:
        bags, y = load_svmlight_file(str(path), zero_based=True)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None
    except (ValueError, OverflowError) as error:
        raise DataError(f"{path} is no svmlight file ({error}); a line is a class, then word:count") from None
    wrong = np.flatnonzero(~((bags.data >= 0) & (bags.data <= 2**31) & (bags.data == np.floor(bags.data))))
    if len(wrong):
        line = int(np.searchsorted(bags.indptr, wrong[0], side="right"))
        raise DataError(f"{path}, line {line}: {bags.data[wrong[0]]:g} is no count of a word; give counts, not weights")
    if len(y) == 0:
        raise DataError(f"{path}: there are no reviews in it; get the file again")
    return bags, y


def _bags(bags: csr_matrix, shift: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Words repeated by count, review by review, (t,), and the number of words of each review, (n,)."""
    counts = bags.data.astype(np.int64)
    kept = []
    for begin, end in zip(bags.indptr[:-1], bags.indptr[1:], strict=True):
        total = int(counts[begin:end].sum())
        ends = np.cumsum(counts[begin:end])
        places = np.arange(total) if total <= LONGEST else np.arange(LONGEST) * total // LONGEST
        kept.append(bags.indices[begin:end][np.searchsorted(ends, places, side="right")].astype(np.int64) + shift)
    return np.concatenate(kept), np.asarray([len(words) for words in kept], dtype=np.int64)


def _classes(parts: list[NDArray[np.float64]]) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    levels, codes = np.unique(np.concatenate(parts), return_inverse=True)
    return codes.reshape(-1).astype(np.int64), tuple(f"{level:g}" for level in levels.tolist())
