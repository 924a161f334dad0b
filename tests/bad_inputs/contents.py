"""What the files of the cases hold, as it is written in toml: text, or a table with one kind and perhaps a cut."""

from __future__ import annotations

import gzip
import io
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq


def content(written: Any) -> bytes:
    """The bytes of `TEXT` or `{KIND = VALUE, ...}`; with `kept = N`, only the first N of them.

    A kind that is none of `_WRITERS` is an encoding of text.
    """
    if isinstance(written, str):
        return written.encode()
    (kind, value), *more = written.items()
    options = dict(more)
    kept = options.pop("kept", None)
    writer: Callable[..., bytes] = _WRITERS.get(kind) or (lambda text: text.encode(kind))
    return writer(value, **options)[:kept]


def _repeated(text: str, *, then: str, times: int, end: str = "") -> bytes:
    return (text + then * times + end).encode()


def _table(shape: str) -> bytes:
    return _drawn_table(**{name: int(value) for name, value in (part.split("=") for part in shape.split())})


def _drawn_table(rows: int, columns: int, classes: int = 0, groups: int = 0, days: int = 0, seed: int = 0) -> bytes:
    """A csv file: numbers x1, x2, ..., and where asked for site (s1, s2, ...), day (so many rows each) and label."""
    draw = random.Random(seed)  # noqa: S311 - no secrets
    named = {
        **{f"x{j + 1}": [f"{draw.gauss(0, 1):.3f}" for _ in range(rows)] for j in range(columns)},
        **({"site": [f"s{i % groups + 1}" for i in range(rows)]} if groups else {}),
        **({"day": [f"2024-{i // days // 28 + 1:02}-{i // days % 28 + 1:02}" for i in range(rows)]} if days else {}),
        **({"label": ["abcdefgh"[draw.randrange(classes)] for _ in range(rows)]} if classes else {}),
    }
    return "\n".join([",".join(named), *map(",".join, zip(*named.values(), strict=True)), ""]).encode()


def _npz(arrays: dict[str, Any], *, objects: bool = False) -> bytes:
    out = io.BytesIO()
    np.savez(out, **{name: np.asarray(value, dtype=object if objects else None) for name, value in arrays.items()})
    return out.getvalue()


def _npy(values: Any) -> bytes:
    out = io.BytesIO()
    np.save(out, np.asarray(values))
    return out.getvalue()


def _parquet(columns: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


def _arrow(columns: dict[str, Any]) -> bytes:
    out, table = io.BytesIO(), pa.table(columns)
    with pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue()


def _xlsx(sheets: dict[str, list[list[Any]]], *, merged: str = "") -> bytes:
    """Sheets of rows; `merged` are cells of the last one."""
    book, out = openpyxl.Workbook(), io.BytesIO()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append([None if value == "" else value for value in row])
    if merged:
        sheet.merge_cells(merged)
    book.save(out)
    return out.getvalue()


_WRITERS: dict[str, Callable[..., bytes]] = {
    "text": _repeated,
    "hex": bytes.fromhex,
    "gzip": lambda text: gzip.compress(text.encode(), mtime=0),
    "zstd": lambda text: pa.Codec("zstd").compress(text.encode(), asbytes=True),
    "table": _table,
    "npz": _npz,
    "npy": _npy,
    "parquet": _parquet,
    "arrow": _arrow,
    "xlsx": _xlsx,
}
