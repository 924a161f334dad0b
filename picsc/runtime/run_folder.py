"""The folder that a run keeps its finished parts in, so that an interrupted run loses only the part in work.

Layout: `picsc-run.json` says what the run is, `lock` is held by the process at work, `parts/` holds one file per part.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from picsc.errors import SettingsError
from picsc.runtime.cache import cache_folder

MANIFEST = "picsc-run.json"
LONGEST = 100
"""Characters of a folder's name; longer ones end in a digest."""
SHOWN = 5
"""Differences between two manifests that a message names."""


@dataclass(frozen=True, slots=True)
class RunFolder:
    """Where finished parts are; plain values, so that it can be sent to other processes. Made by `open_run`."""

    path: Path
    digest: str
    """Of the manifest; a part of another run is never taken for one of this."""

    def get(self, name: str) -> dict[str, NDArray[Any]] | None:
        """A finished part.

        Args:
            name: as given to `put`.

        Returns:
            Its arrays; None where it is missing, torn, or of another run.
        """
        try:
            with zipfile.ZipFile(self._file(name)) as archive:
                if archive.comment != self._stamp(name, len(archive.namelist())):
                    return None
                return {member.removesuffix(".npy"): _read(archive, member) for member in archive.namelist()}
        except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error, RuntimeError):
            return None

    def put(self, name: str, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Keep a part: whole or not at all, also when the process is killed in here.

        Args:
            name: any text; what stands between slashes becomes a folder.
            arrays: npz content by name, without Python objects; text rides as a 0-d array of unicode.

        Raises:
            SettingsError: the folder cannot be written to.
        """
        file = self._file(name)
        torn = file.with_name(f".{file.stem}.{os.getpid()}.part")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            try:
                with torn.open("wb") as stream:
                    with zipfile.ZipFile(stream, "w") as archive:  # savez has names of its own, such as `file`
                        archive.comment = self._stamp(name, len(arrays))
                        for key, array in arrays.items():
                            with archive.open(zipfile.ZipInfo(f"{key}.npy"), "w", force_zip64=True) as member:
                                npy.write_array(member, np.asanyarray(array), allow_pickle=False)
                    stream.flush()
                    os.fsync(stream.fileno())  # else a power cut may keep the new name and lose what it names
                torn.replace(file)
            finally:
                torn.unlink(missing_ok=True)
        except OSError as error:
            raise SettingsError(f"cannot keep {name} in run folder {self.path}: {error.strerror or error}") from None

    def _file(self, name: str) -> Path:
        *folders, last = (_safe(step) for step in name.split("/"))
        return self.path.joinpath("parts", *folders, f"{last}.npz")

    def _stamp(self, name: str, arrays: int) -> bytes:
        """What the archive says of itself, so that no foreign or damaged file is taken for a part."""
        said = f"{self.digest}/{arrays}/{name}".encode("utf-8", "surrogatepass")
        return hashlib.sha256(said).hexdigest().encode()


def kept(folder: RunFolder, name: str, compute: Callable[[], Mapping[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    """A part of the run folder, computed if it is not there; read back, so that resuming gives the same bytes."""
    found = folder.get(name)
    if found is None:
        folder.put(name, compute())
        found = folder.get(name)
    assert found is not None  # noqa: S101 - it was just written
    return found


@contextmanager
def open_run(path: Path | None, manifest: Mapping[str, object], *, resume: bool) -> Iterator[RunFolder]:
    """Hold a run folder for the time of a run; no other process can open it meanwhile.

    Args:
        path: the folder, made if need be; None is `runs/` and the start of the manifest's digest in picsc's cache.
        manifest: JSON values that decide every number of the run: data, settings, versions, but not jobs.
        resume: keep the parts that are there, which must be of the same manifest; if not, drop them.

    Raises:
        SettingsError: the folder cannot be written to, holds other files, is in use, or has another manifest.
    """
    text = json.dumps(manifest, sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    digest = hashlib.sha256(text.encode()).hexdigest()
    folder = cache_folder() / "picsc" / "runs" / digest[:16] if path is None else path
    try:
        folder.mkdir(parents=True, exist_ok=True)
        there = {each.name for each in folder.iterdir()}
        strangers = sorted(there - {"lock", f"{MANIFEST}.part"})
        if strangers and MANIFEST not in there:  # whatever it is, it must not be deleted
            raise SettingsError(f"{folder} is no run folder, it holds {strangers[0]}: give an empty or a new folder")
        lock = (folder / "lock").open("a+", encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"cannot use run folder {folder}: {error.strerror or error}") from None
    with lock:
        _hold(lock, folder)
        try:
            if resume:
                _check_same(folder, json.loads(text))
            else:
                _drop_parts(folder)
            for torn in folder.glob("parts/**/.*.part"):
                torn.unlink()
            _write_manifest(folder, text)
        except OSError as error:
            raise SettingsError(f"cannot use run folder {folder}: {error.strerror or error}") from None
        yield RunFolder(folder.absolute(), digest)


def _read(archive: zipfile.ZipFile, member: str) -> NDArray[Any]:
    content = archive.read(member)  # whole, because its checksum is only compared at its end
    return np.asarray(npy.read_array(io.BytesIO(content), allow_pickle=False))


def _safe(step: str) -> str:
    """A part of a name as a folder's name on any system; different ones stay different.

    Lower-case letters, digits, `-`, `_` and the dot of a decimal are kept, so that nothing can end in `.npz`. Capitals
    are spelt out because there are file systems that do not tell them from small letters.
    """
    spelt = re.sub(r"^\.|\.(?![0-9])|[^a-z0-9._-]", _spelt, step)
    if len(spelt) > LONGEST:
        return f"{spelt[:LONGEST]}~{hashlib.sha256(spelt.encode()).hexdigest()[:16]}"
    return spelt or "%"


def _spelt(char: re.Match[str]) -> str:
    return "".join(f"%{byte:02x}" for byte in char[0].encode("utf-8", "surrogatepass"))


def _hold(lock: IO[str], folder: Path) -> None:
    """Lock the open file for as long as it is open; the system unlocks it when its process ends in whatever way.

    Raises:
        SettingsError: another process holds it.
    """
    try:
        if sys.platform == "win32":
            import msvcrt

            lock.seek(1 << 30)  # what is locked cannot be read there, and the process number is to be
            msvcrt.locking(lock.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(lock.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        lock.seek(0)
        raise SettingsError(
            f"run folder {folder} is in use by process {lock.read().strip() or 'unknown'}: "
            "wait for it to end, or give another folder"
        ) from None
    except OSError:  # a file system without locks; two runs at once are then the user's to avoid
        pass
    lock.truncate(0)
    lock.write(f"{os.getpid()}\n")
    lock.flush()


def _drop_parts(folder: Path) -> None:
    with suppress(FileNotFoundError):
        shutil.rmtree(folder / "parts")


def _write_manifest(folder: Path, text: str) -> None:
    torn = folder / f"{MANIFEST}.part"
    torn.write_text(f"{text}\n", encoding="utf-8", newline="\n")
    torn.replace(folder / MANIFEST)


def _check_same(folder: Path, wanted: object) -> None:
    """Refuse to go on with another run's parts.

    Raises:
        SettingsError: the folder's manifest is another one; the message names the keys that differ.
    """
    try:
        there = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except FileNotFoundError:  # new, or interrupted before it had a part
        _drop_parts(folder)
        return
    except ValueError:
        raise SettingsError(f"cannot resume {folder}: its {MANIFEST} cannot be read; start without --resume") from None
    before, now = dict(_flat(there)), dict(_flat(wanted))
    differ = [key for key in sorted(before | now) if before.get(key, _ABSENT) != now.get(key, _ABSENT)]
    if differ:
        said = "; ".join(f"{key} was {before.get(key, _ABSENT)}, now {now.get(key, _ABSENT)}" for key in differ[:SHOWN])
        more = f"; and {len(differ) - SHOWN} more" if differ[SHOWN:] else ""
        raise SettingsError(
            f"cannot resume {folder}, it holds another run: {said}{more}; set them back, or start without --resume"
        )


_ABSENT = "absent"


def _flat(value: object, key: str = "") -> Iterator[tuple[str, str]]:
    """Leaves of nested JSON by dotted key, as short text; long ones end in a digest so that they still differ."""
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from _flat(inner, f"{key}.{name}" if key else name)
        return
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    if len(text) > 80:
        text = f"{text[:60]}... (sha256 {hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:8]})"
    yield key, text
