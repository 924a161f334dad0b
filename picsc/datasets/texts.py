"""Texts as rows of token codes with one class and one owner each.

Letters: n rows, t tokens kept, L codes of a row, m rows asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.table import Dataset, Target
from picsc.errors import DataError, SettingsError

if TYPE_CHECKING:
    from picsc.datasets.data import Data
    from picsc.datasets.images import ImageSet

Codes = NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class TokenSet:
    """A set of labelled texts. Code i + 1 is `vocabulary[i]`, and code 0 pads a row to the longest one."""

    name: str
    source: str
    """The path that it was read from."""
    unit: Literal["words", "characters"]
    """The thing that a code stands for. `words` are bags, whose order means nothing; `characters` come in reading
    order, and the class is the next one."""
    vocabulary: tuple[str, ...]
    """Words or characters."""
    text: Codes
    """(t,) codes of all rows; 0 is a character that the vocabulary lacks. Rows may overlap: windows on one text share
    it."""
    starts: NDArray[np.int64]
    """(n,) position in `text` at which each row begins."""
    lengths: NDArray[np.int64]
    """(n,) number of codes of each row."""
    labels: NDArray[np.int64]
    """(n,) codes into `classes`."""
    classes: tuple[str, ...]
    owners: NDArray[np.int64]
    """(n,) codes into `clients`."""
    clients: tuple[str, ...]
    """Names of the owners."""
    test: NDArray[np.int64]
    """Row numbers of the official test part, increasing; empty where there is none."""
    sha256: str
    """SHA-256 of the files that were read."""

    kind: ClassVar[Literal["texts"]] = "texts"

    @property
    def n(self) -> int:
        """Number of rows, the test part included."""
        return len(self.labels)

    @property
    def width(self) -> int:
        """Number of codes of the longest row, L; at least 1."""
        return int(self.lengths.max(initial=1))

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of rows and codes of the longest one, (n, L)."""
        return self.n, self.width

    def as_table(self) -> Dataset:
        """All texts as rows with a class and no columns."""
        target = Target("class", "classes", self.labels, self.classes, "classes of the texts")
        return Dataset(self.name, self.source, self.n, (), (), target, sha256=self.sha256)

    def with_labels(self, labels: NDArray[np.int64]) -> TokenSet:
        """The same texts with other labels.

        Args:
            labels: codes into `classes`, (n,).
        """
        return replace(self, labels=labels)

    def take(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The token codes of some rows, (m, L), with 0 after the end of shorter rows.

        Args:
            rows: row numbers (m,).
        """
        within = np.arange(self.width)
        inside = within < self.lengths[rows, None]
        codes = np.zeros(inside.shape, dtype=np.int64)
        codes[inside] = self.text[(self.starts[rows, None] + within)[inside]]
        return codes


def smallest_codes(codes: NDArray[np.int64], largest: int) -> Codes:
    """The codes in the narrowest unsigned integer type that holds `largest`."""
    if largest < 1 << 8:
        return codes.astype(np.uint8)
    return codes.astype(np.uint16) if largest < 1 << 16 else codes.astype(np.uint32)


def no_text(data: Data) -> Dataset | ImageSet:
    """Refuse texts where columns or pixels are tested one by one.

    Args:
        data: the data that were read.

    Raises:
        SettingsError: the data are texts.
    """
    if data.kind == "texts":
        raise SettingsError(
            f"{data.name}: texts have neither columns nor pixels that could be audited; use picsc cv for "
            "bags of words, or picsc fed"
        )
    return data


def no_characters(data: Data) -> Data:
    """Refuse texts of characters where rows are split at random, because windows on one text overlap.

    Args:
        data: the data that were read.

    Raises:
        SettingsError: the data are texts of characters.
    """
    if data.kind == "texts" and data.unit == "characters":
        raise SettingsError(
            f"{data.name}: its rows are overlapping windows on running text, so that training and test rows of "
            "cross-validation would share characters; use picsc fed"
        )
    return data


def checked(tokens: TokenSet) -> TokenSet:
    """The set itself, after a check that it has at least two classes.

    Raises:
        DataError: it has fewer.
    """
    if len(tokens.classes) < 2:
        raise DataError(
            f"{tokens.source}: {tokens.n} rows of {len(tokens.classes)} classes; need rows of at least two classes"
        )
    return tokens
