"""A safe reader of pickle files with plain values and numpy arrays, which runs no code from the file.

Pickle is a small programming language, and `pickle.load` runs any function that a file names. Here no name from a file
is ever imported: the few names that numpy writes for an array are mapped to the functions below, any other is refused.
"""

from __future__ import annotations

import hashlib
import io
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from picsc.errors import DataError

_NUMBERS = re.compile(r"[<>|=]?[iuf][1248]")


def load_plain(path: Path) -> tuple[Any, str]:
    """The content of a pickle file: numbers, words, lists, dictionaries and arrays of numbers.

    Returns:
        The content, with strings of Python 2 read as Latin-1, and the SHA-256 of the file's bytes.

    Raises:
        DataError: the file needs anything else, or is no pickle file.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None
    try:
        held = _finished(_Unpickler(io.BytesIO(content), encoding="latin1").load())
    except _RefusedError as refused:
        raise DataError(
            f"{path} asks for {refused}, which no file of images needs: it was not run, and the file is refused; "
            "get it from its authors"
        ) from None
    except (
        pickle.UnpicklingError,
        EOFError,
        ValueError,
        TypeError,
        LookupError,
        AttributeError,
        OverflowError,
        MemoryError,
        RecursionError,
    ) as error:
        raise DataError(
            f"{path} is no whole pickle file of plain values and arrays ({type(error).__name__}); get it again"
        ) from None
    return held, hashlib.sha256(content).hexdigest()


class _RefusedError(pickle.UnpicklingError):
    """The file refers to a name that no array needs."""


class _Kind:
    """Replaces `numpy.dtype`, for numbers only."""

    def __init__(self, name: Any = "", *_: Any) -> None:
        name = name.decode("latin1") if isinstance(name, bytes) else name
        if not isinstance(name, str) or not _NUMBERS.fullmatch(name):
            raise ValueError(name)
        self.dtype = np.dtype(name)

    def __setstate__(self, state: Any) -> None:
        if state[1] in ("<", ">"):
            self.dtype = self.dtype.newbyteorder(state[1])


class _Array:
    """Replaces `numpy.ndarray`."""

    def __init__(self, *_: Any) -> None:
        self.array: NDArray[Any] = np.empty(0, dtype=np.uint8)

    def __setstate__(self, state: Any) -> None:
        _, shape, kind, by_columns, content = state
        content = content.encode("latin1") if isinstance(content, str) else content
        self.array = _array(content, kind, shape, "F" if by_columns else "C")


def _array(content: Any, kind: Any, shape: Any, order: Any) -> NDArray[Any]:
    if not isinstance(content, bytes | bytearray) or not isinstance(kind, _Kind):
        raise TypeError(type(content))
    array: NDArray[Any] = np.frombuffer(bytes(content), dtype=kind.dtype).reshape(shape, order=order)
    return array


def _from_buffer(content: Any, kind: Any, shape: Any, order: Any) -> _Array:
    made = _Array()
    made.array = _array(content, kind, shape, order)
    return made


def _encoded(text: Any, encoding: Any = "latin1") -> bytes:
    """Replaces `_codecs.encode`, with which old protocols write bytes."""
    if encoding != "latin1" or not isinstance(text, str):
        raise ValueError(encoding)
    return text.encode("latin1")


_STAND_INS: dict[tuple[str, str], Any] = {
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Kind,
    ("_codecs", "encode"): _encoded,
    **{(f"{core}.multiarray", "_reconstruct"): _Array for core in ("numpy.core", "numpy._core")},
    **{(f"{core}.numeric", "_frombuffer"): _from_buffer for core in ("numpy.core", "numpy._core")},
}


class _Unpickler(pickle.Unpickler):
    """Maps the names of numpy to the functions above, and refuses any other name."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _STAND_INS:
            raise _RefusedError(f"{module}.{name}"[:80])
        return _STAND_INS[module, name]


def _finished(held: Any) -> Any:
    """The content with numpy arrays in place of `_Array` objects."""
    if isinstance(held, _Array):
        return held.array
    if isinstance(held, dict):
        return {_finished(name): _finished(value) for name, value in held.items()}
    if isinstance(held, list | tuple) and any(isinstance(each, _Array | dict | list | tuple) for each in held):
        return [_finished(each) for each in held]
    return held
