"""The bound on what files unpack to, for every kind of packing, downloads, npz and xlsx."""

from __future__ import annotations

import bz2
import functools
import gzip
import http.server
import io
import lzma
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pydantic import ValidationError

from picsc.datasets.files.compression import most_unpacked
from picsc.datasets.files.read import read_frame
from picsc.errors import DataError
from picsc.settings import ReadSettings

ROWS = 20_000
TEXT = b"a,b\n" + b"1,2\n" * ROWS
"""80 kB, which pack well."""
BELOW, ABOVE = 60_000 / 2**30, 200_000 / 2**30
"""GiB below and above what all of the files unpack to."""


def zipped(name: str, content: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return file.getvalue()


def arrays() -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, X=np.zeros((ROWS // 4, 2)))
    return file.getvalue()


def workbook() -> bytes:
    file = io.BytesIO()
    pd.DataFrame({"a": [1] * 2000, "b": [2] * 2000}).to_excel(file, index=False)
    return file.getvalue()


FILES: dict[str, Callable[[], bytes]] = {
    "a.csv.gz": lambda: gzip.compress(TEXT),
    "a.csv.bz2": lambda: bz2.compress(TEXT),
    "a.csv.xz": lambda: lzma.compress(TEXT),
    "a.csv.zst": lambda: pa.compress(TEXT, "zstd", asbytes=True),
    "a.csv.zip": lambda: zipped("a.csv", TEXT),
    "a.npz": arrays,
    "a.xlsx": workbook,
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_unpacks_to_more_is_refused_before_it_is_unpacked(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(FILES[name]())
    with pytest.raises(
        DataError, match=rf"{name} unpacks to more than 5\.\d+e-05 GiB, the bound of --max-unpacked; if"
    ):
        read_frame(str(path), ReadSettings(max_unpacked=BELOW))
    assert len(read_frame(str(path), ReadSettings(max_unpacked=ABOVE)).frame) > 1000
    assert len(read_frame(str(path), ReadSettings()).frame) > 1000


def test_a_plain_file_has_no_bound(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(TEXT)
    assert len(read_frame(str(path), ReadSettings(max_unpacked=BELOW)).frame) == ROWS


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    (tmp_path / "a.csv").write_bytes(TEXT)
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/a.csv"
        server.shutdown()
        thread.join()


def test_a_download_has_the_same_bound(address: str) -> None:
    with pytest.raises(DataError, match=r"a\.csv is larger than 5\.\d+e-05 GiB, the bound of --max-unpacked"):
        read_frame(address, ReadSettings(max_unpacked=BELOW))
    assert len(read_frame(address, ReadSettings(max_unpacked=ABOVE)).frame) == ROWS


def test_the_bound_is_16_unless_it_is_given_and_left_out_of_reports() -> None:
    assert most_unpacked(ReadSettings()) == 16
    assert most_unpacked(ReadSettings(), 1) == 1
    assert most_unpacked(ReadSettings(max_unpacked=40), 1) == 40
    assert "max_unpacked" not in ReadSettings().model_dump()
    assert ReadSettings(max_unpacked=40).model_dump()["max_unpacked"] == 40
    for wrong in (0, -1, float("inf"), float("nan")):
        with pytest.raises(ValidationError):
            ReadSettings(max_unpacked=wrong)
