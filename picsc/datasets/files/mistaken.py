"""Recognition of other formats that were mistaken for delimited text, by their first bytes."""

from __future__ import annotations

from pathlib import Path

_BYTES = (
    (b"PAR1", "as parquet does; say --format parquet"),
    (b"ARROW1", "as an Arrow file does; say --format arrow"),
    (b"\xff\xff\xff\xff", "as a stream of Arrow does; say --format arrow"),
    (b"PK\x03\x04", "as a zip archive does; say --format xlsx or npz, or unpack it"),
    (b"\xd0\xcf\x11\xe0", "as an old workbook of Excel does; save it as xlsx or csv"),
    (b"\x93NUMPY", "as one array of numpy does; save it with numpy.savez(FILE, X=..., y=...)"),
    (b"\x89PNG", "as a picture does; give a table"),
    (b"%PDF", "as a PDF does; give a table"),
)
_TEXT = (
    ("<!doctype html", "as a page of HTML does; fetch the table itself"),
    ("<html", "as a page of HTML does; fetch the table itself"),
    ("<?xml", "as XML does; save it as csv"),
    ("@relation", "as ARFF does; say --format arff, or keel"),
    ('{"', "as JSON does; say --format jsonl"),
    ("[{", "as JSON does; say --format jsonl"),
    ("[[", "as JSON does; give records, one per line, and say --format jsonl"),
)


def kind_of_bytes(path: Path) -> str:
    """The format of a binary file with advice, `as parquet does; say --format parquet`; empty if it is unknown."""
    with path.open("rb") as file:
        first = file.read(8)
    return next((found for mark, found in _BYTES if first.startswith(mark)), "")


def kind_of_text(line: str) -> str:
    """The format of a text with advice, by its first line; empty if it may be delimited text."""
    start = line.lstrip().lower()
    return next((found for mark, found in _TEXT if start.startswith(mark)), "")
