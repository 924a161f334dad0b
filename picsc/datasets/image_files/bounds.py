"""The most bytes that files of images may unpack to, checked before they are in memory.

A small file can unpack to more than the memory holds, by accident or by intent.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from picsc.datasets.files.compression import MOST
from picsc.errors import DataError

_GIB = 1 << 30
_AT_ONCE = 1 << 20
_HEADER, _TAG, _COMPRESSED = 128, 8, 15
_LITTLE_ENDIAN = b"IM"


def check_images_fit(size: int, where: object) -> None:
    """Refuse images that are too large when they are unpacked.

    Args:
        size: bytes of the pixels.
        where: the file or folder, for messages.

    Raises:
        DataError: they are larger than the bound.
    """
    if size > MOST * _GIB:
        raise DataError(
            f"{where} unpacks to more than {MOST:g} GiB, the bound for images; get it again, or keep fewer images"
        )


def check_matlab_fits(path: Path) -> None:
    """Refuse a MATLAB file (version 5) whose compressed variables are too large; other faults are left to its reader.

    Source: MATLAB's description of MAT-files of version 5: after a header come elements of a type and a length, in four
    bytes each; type 15 is a variable that is compressed by zlib.

    Raises:
        DataError: the variables are larger than the bound.
        zlib.error: a compressed variable is damaged.
        OSError: the file cannot be read.
    """
    size = 0
    with path.open("rb") as file:
        little = file.read(_HEADER)[-len(_LITTLE_ENDIAN) :] == _LITTLE_ENDIAN
        while len(tag := file.read(_TAG)) == _TAG:
            kind, length = (int.from_bytes(tag[i : i + 4], "little" if little else "big") for i in (0, 4))
            if kind != _COMPRESSED:
                file.seek(length, 1)
                continue
            for block in _inflated(file, length):
                size += block
                check_images_fit(size, path)


def _inflated(file: BinaryIO, length: int) -> Iterator[int]:
    """Sizes of the blocks that the next bytes of a file unpack to."""
    stream = zlib.decompressobj()
    while length > 0 and (packed := file.read(min(_AT_ONCE, length))):
        length -= len(packed)
        while packed:
            yield len(stream.decompress(packed, _AT_ONCE))
            packed = stream.unconsumed_tail
