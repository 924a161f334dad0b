"""Data of any kind: a table, images or texts, as readers return them and verbs take them.

All three kinds answer the same questions, so that most code need not know which of them it has:

- `name`, `source`, `sha256`: its name, the place it came from, and the digest of its content
- `kind`: `table`, `images` or `texts`; a comparison with one of them narrows the type to its class
- `n`, `width`, `shape`: number of rows, values of one row, and both as they were read
- `labels`, `classes`: the class code of each row and the names of the codes
- `owners`, `clients`: the client code of each row and the names of the codes
- `test`: row numbers of the official test part
- `as_table()`, `with_labels(labels)`: the rows with their labels as a table, and the same rows with other labels
"""

from __future__ import annotations

from typing import Literal

from picsc.datasets.images import ImageSet
from picsc.datasets.table import Dataset
from picsc.datasets.texts import TokenSet

Data = Dataset | ImageSet | TokenSet
"""A table, images or texts."""

DataKind = Literal["table", "images", "texts"]
"""The values of `kind`."""
