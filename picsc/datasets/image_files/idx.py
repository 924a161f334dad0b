"""IDX, the format of MNIST and similar sets: a header with the shape, then bytes.

The header is four bytes (zero, zero, 8 for bytes, the number of axes) and the length of each axis in four bytes, most
significant byte first.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import struct
import zlib
from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from picsc.errors import DataError

_BYTES = 8
_GZIP = b"\x1f\x8b"


def read_idx_file(path: Path, axes: int) -> tuple[NDArray[np.uint8], str]:
    """Read one array of bytes.

    Args:
        path: path of the file, compressed with gzip or not.
        axes: number of axes, 3 for images and 1 for labels.

    Returns:
        The array, and the SHA-256 of the file's bytes.

    Raises:
        DataError: the file has another format, or is not complete; the message says which bytes.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None
    sha256 = hashlib.sha256(content).hexdigest()
    header = 4 + 4 * axes
    with io.BytesIO(content) as plain, gzip.open(plain) as packed:
        stream = packed if content.startswith(_GZIP) else plain
        try:
            beginning = stream.read(header)
            magic = bytes((0, 0, _BYTES, axes))
            if beginning[:4] != magic:
                raise DataError(
                    f"{path} begins with the bytes {beginning[:4].hex(' ') or 'of an empty file'} where IDX "
                    f"{'images' if axes == 3 else 'labels'} begin with {magic.hex(' ')}; is it another file?"
                )
            if len(beginning) < header:
                raise DataError(f"{path} ends after {len(beginning)} of its {header} header bytes; get it again")
            shape = struct.unpack(f">{axes}I", beginning[4:])
            promised = prod(shape)
            body = stream.read(min(promised, len(content) * 1100) + 1)  # gzip compresses at most 1,032 bytes into one
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise DataError(f"{path} is a gzip archive that ends early or is damaged; get it again") from None
    if len(body) != promised:
        found = f"more than {promised}" if len(body) > promised else f"only {len(body)}"
        raise DataError(
            f"{path} holds {found} bytes where its header promises {' x '.join(map(str, shape))} = {promised}; "
            "get it again"
        )
    return np.frombuffer(body, dtype=np.uint8).reshape(shape), sha256
