"""Locks on files, which the system takes back when a process ends in any way."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


def hold(lock: IO[str], *, shared: bool = False, wait: bool = False) -> bool:
    """Lock an open file for as long as it is open.

    Args:
        lock: the file, open for reading and writing.
        shared: let others hold it, too, who also share it; on Windows nobody is kept out then.
        wait: wait until it is free; Windows gives up after ten seconds.

    Returns:
        False if another process holds it. True also on a file system without locks, where the user must take care.
    """
    try:
        if sys.platform == "win32":
            import msvcrt

            lock.seek(1 << 30)  # Windows prevents reading of locked bytes, and the process number must be readable
            if not shared:
                msvcrt.locking(lock.fileno(), msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
            fcntl.flock(lock.fileno(), kind if wait else kind | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        pass
    return True


@contextmanager
def locked(file: Path, *, wait: bool) -> Iterator[bool]:
    """A lock on a file, which is made if need be, for as long as the context.

    Args:
        file: whose content does not matter.
        wait: wait until it is free.

    Returns:
        False, at once, if another process holds it and `wait` is off.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a+", encoding="utf-8") as lock:
        yield hold(lock, wait=wait)
