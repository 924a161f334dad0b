"""Small pictures for tests, and a stand-in for Pillow where it is not installed, which reads nothing but these."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import IO, TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest
    from numpy.typing import NDArray


def write_picture(path: Path, pixels: NDArray[np.uint8]) -> None:
    """Write (height, width, 3) bytes as a portable pixmap, which Pillow knows by its content, whatever its suffix."""
    height, width, _ = pixels.shape
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"P6\n%d %d\n255\n" % (width, height) + pixels.tobytes())


def plain(colour: tuple[int, int, int], height: int = 8, width: int = 8) -> NDArray[np.uint8]:
    """A picture of one colour."""
    return np.full((height, width, 3), colour, dtype=np.uint8)


def need_pillow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave Pillow as it is where it is installed; put the stand-in in its place elsewhere."""
    try:
        import PIL.Image  # noqa: F401
    except ImportError:
        package, image = ModuleType("PIL"), ModuleType("PIL.Image")
        vars(image).update(open=_open, Resampling=SimpleNamespace(BILINEAR=2))
        vars(package)["Image"] = image
        monkeypatch.setitem(sys.modules, "PIL", package)
        monkeypatch.setitem(sys.modules, "PIL.Image", image)


class _Picture:
    def __init__(self, size: tuple[int, int], body: bytes) -> None:
        self.size = size
        self.body = body

    def convert(self, mode: str) -> _Picture:
        assert mode == "RGB"
        if len(self.body) < 3 * self.size[0] * self.size[1]:
            raise OSError("image file is truncated")
        return self

    def resize(self, size: tuple[int, int], resample: Any, box: tuple[int, int, int, int]) -> NDArray[np.uint8]:
        """The nearest pixels, which are Pillow's for pictures of one colour."""
        pixels = np.frombuffer(self.body, np.uint8).reshape(self.size[1], self.size[0], 3)
        left, top, right, bottom = box
        rows = top + np.arange(size[1]) * (bottom - top) // size[1]
        columns = left + np.arange(size[0]) * (right - left) // size[0]
        return pixels[rows][:, columns]


@contextmanager
def _open(file: IO[bytes]) -> Iterator[_Picture]:
    magic, size, _, body = file.read().split(b"\n", 3)
    if magic != b"P6":
        raise OSError("cannot identify image file")
    width, height = map(int, size.split())
    yield _Picture((width, height), body)
