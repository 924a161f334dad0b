"""The folder of a run's finished parts, so that an interrupted run loses only the unfinished part.

Layout: `picsc-run.json` is the manifest of the run, `lock` is locked by the running process, `parts/` holds one file
per part, `locks/` one per unit of work that shards of a run divide among them.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from picsc.errors import SettingsError
from picsc.runtime.cache import cache_folder
from picsc.runtime.locks import hold

MANIFEST = "picsc-run.json"
LONGEST = 100
"""Most characters of the name of a folder or file; longer names end in a digest."""
KEPT_RUNS, KEPT_DAYS = 20, 30
"""Run folders that the cache keeps, and for how many days; folders that a user named are kept for good."""
SHOWN = 5
"""Most differences between two manifests that a message names."""


class PartsMissingError(Exception):
    """Parts are missing that are not to be made here."""

    def __init__(self, units: tuple[str, ...]) -> None:
        """Store the units of work that make them."""
        super().__init__(", ".join(units))
        self.units = units


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The folder of finished parts, made by `open_run`; plain values, so that it can be sent to other processes."""

    path: Path
    digest: str
    """Digest of the manifest, which keeps parts of other runs from being used."""
    only: frozenset[str] | None = None
    """Units of work whose parts `kept` may make; None is all."""

    def with_only(self, unit: str | None) -> RunFolder:
        """The folder for a computation that makes the parts of one unit of work, or of none."""
        return replace(self, only=frozenset(() if unit is None else (unit,)))

    def place_of(self, unit: str) -> str:
        """The folder, below that of the run, of a unit's parts if it makes several one after another."""
        return "/".join(("parts", *map(_safe, unit.split("/"))))

    def get(self, name: str) -> dict[str, NDArray[Any]] | None:
        """A finished part.

        Args:
            name: the name that was given to `put`.

        Returns:
            Its arrays; None if it is missing, incomplete, or of another run.
        """
        try:
            with zipfile.ZipFile(self._file(name)) as archive:
                if archive.comment != self._stamp(name, len(archive.namelist())):
                    return None
                return {member.removesuffix(".npy"): _read(archive, member) for member in archive.namelist()}
        except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error, RuntimeError):
            return None

    def put(self, name: str, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Store a part, completely or not at all, even if the process is killed meanwhile.

        Args:
            name: any text; text before a slash becomes a folder.
            arrays: arrays by name, without Python objects; a text is stored as a 0-d array of unicode.

        Raises:
            SettingsError: the folder cannot be written to.
        """
        file = self._file(name)
        torn = file.with_name(f".{file.stem}.{uuid4().hex[:12]}.part")  # process numbers of two machines may be equal
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            try:
                with torn.open("wb") as stream:
                    with zipfile.ZipFile(stream, "w") as archive:  # numpy.savez reserves some names, such as `file`
                        archive.comment = self._stamp(name, len(arrays))
                        for key, array in arrays.items():
                            with archive.open(zipfile.ZipInfo(f"{key}.npy"), "w", force_zip64=True) as member:
                                npy.write_array(member, np.asanyarray(array), allow_pickle=False)
                    stream.flush()
                    os.fsync(stream.fileno())  # without it, a power cut may keep the new name but lose the content
                torn.replace(file)
            finally:
                torn.unlink(missing_ok=True)
        except OSError as error:
            raise SettingsError(f"cannot keep {name} in run folder {self.path}: {error.strerror or error}") from None

    def _file(self, name: str) -> Path:
        *folders, last = (_safe(step) for step in name.split("/"))
        return self.path.joinpath("parts", *folders, f"{last}.npz")

    def _stamp(self, name: str, arrays: int) -> bytes:
        """Comment of the archive of a part, by which foreign and damaged files are recognised."""
        identity = f"{self.digest}/{arrays}/{name}".encode("utf-8", "surrogatepass")
        return hashlib.sha256(identity).hexdigest().encode()


def kept(
    folder: RunFolder, name: str, compute: Callable[[], Mapping[str, NDArray[Any]]], *, unit: str | None = None
) -> dict[str, NDArray[Any]]:
    """A part of the run folder, computed if it is missing; it is read back, so that resuming gives the same bytes.

    Args:
        folder: keeps the part.
        name: of the part.
        compute: makes its arrays.
        unit: the unit of work of parts that need each other; None is the part's own name, a unit by itself.

    Raises:
        PartsMissingError: the part is missing, and is not to be made here.
    """
    found = folder.get(name)
    if found is None:
        if folder.only is not None and (unit or name) not in folder.only:
            raise PartsMissingError((unit or name,))
        folder.put(name, compute())
        found = folder.get(name)
    assert found is not None  # noqa: S101 - it was just written
    return found


@contextmanager
def open_run(
    path: Path | None, manifest: Mapping[str, object], *, resume: bool, shared: bool = False
) -> Iterator[RunFolder]:
    """Open a run folder for the duration of a run; no other process can open it meanwhile, but those that share it.

    Args:
        path: the folder, created if need be; None takes a folder in picsc's cache that is named after the manifest's
            digest; the cache keeps the newest `KEPT_RUNS` for `KEPT_DAYS` days.
        manifest: JSON values that determine every number of the run: data, settings, versions, the digest of
            picsc's code, the device that was found, but not jobs.
        resume: parts that are there, which must belong to the same manifest, are kept; without it they are deleted.
        shared: let other processes with the same manifest work in the folder, too; parts that are there are kept.

    Raises:
        SettingsError: the folder cannot be written to, holds other files, is in use, or has another manifest.
    """
    text = json.dumps(manifest, sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    digest = hashlib.sha256(text.encode()).hexdigest()
    folder = cache_folder() / "picsc" / "runs" / digest[:16] if path is None else path
    try:
        folder.mkdir(parents=True, exist_ok=True)
        there = {each.name for each in folder.iterdir()}
        strangers = sorted(name for name in there - {"lock"} if not _TORN.fullmatch(name))
        if strangers and MANIFEST not in there:  # foreign files must not be deleted
            raise SettingsError(f"{folder} is no run folder, it holds {strangers[0]}: give an empty or a new folder")
        lock = (folder / "lock").open("a+", encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"cannot use run folder {folder}: {error.strerror or error}") from None
    with lock:
        _hold(lock, folder, shared=shared)
        try:
            if shared:
                if not (folder / MANIFEST).exists():
                    _write_manifest(folder, text)
                # another one may have been faster
                _check_same(folder, json.loads(text), "join the run in", "give an empty folder")
            else:
                if resume:
                    _check_same(folder, json.loads(text))
                else:
                    _drop_parts(folder)
                for torn in (*folder.glob("parts/**/.*.part"), *folder.glob(f"{MANIFEST}.*part")):
                    torn.unlink()
                shutil.rmtree(folder / "locks", ignore_errors=True)
                _write_manifest(folder, text)
        except OSError as error:
            raise SettingsError(f"cannot use run folder {folder}: {error.strerror or error}") from None
        if path is None:
            _prune(folder)
        yield RunFolder(folder.absolute(), digest)


def _prune(current: Path) -> None:
    """Delete the cache's folders of other runs that are old or too many; one that is in use stays.

    A folder that the user named is never deleted.
    """
    others = [each for each in current.parent.iterdir() if each != current and (each / MANIFEST).is_file()]
    newest = sorted(others, key=lambda each: (each / MANIFEST).stat().st_mtime, reverse=True)
    oldest = time.time() - KEPT_DAYS * 86400
    for i, folder in enumerate(newest):
        if i < KEPT_RUNS - 1 and (folder / MANIFEST).stat().st_mtime >= oldest:
            continue
        with suppress(OSError, SettingsError), (folder / "lock").open("a+", encoding="utf-8") as lock:
            _hold(lock, folder)
            shutil.rmtree(folder)


def _read(archive: zipfile.ZipFile, member: str) -> NDArray[Any]:
    content = archive.read(member)  # the whole member, because its checksum is compared only at its end
    return np.asarray(npy.read_array(io.BytesIO(content), allow_pickle=False))


def _safe(step: str) -> str:
    """A part of a name as a file name that is valid on any system; different parts get different names.

    Lower-case letters, digits, `-`, `_` and the dot of a decimal are kept, so that no name can end in `.npz`. Capitals
    are encoded because some file systems do not distinguish them from small letters.
    """
    spelt = re.sub(r"^\.|\.(?![0-9])|[^a-z0-9._-]", _spelt, step)
    if len(spelt) > LONGEST:
        return f"{spelt[:LONGEST]}~{hashlib.sha256(spelt.encode()).hexdigest()[:16]}"
    return spelt or "%"


def _spelt(char: re.Match[str]) -> str:
    return "".join(f"%{byte:02x}" for byte in char[0].encode("utf-8", "surrogatepass"))


def _hold(lock: IO[str], folder: Path, *, shared: bool = False) -> None:
    """Lock the run folder for as long as the file is open.

    Raises:
        SettingsError: another process holds it.
    """
    if not hold(lock, shared=shared):
        lock.seek(0)
        raise SettingsError(
            f"run folder {folder} is in use by process {lock.read().strip() or 'unknown'}: "
            "wait for it to end, or give another folder"
        )
    lock.truncate(0)
    lock.write(f"{os.getpid()}\n")
    lock.flush()


def _drop_parts(folder: Path) -> None:
    with suppress(FileNotFoundError):
        shutil.rmtree(folder / "parts")


_TORN = re.compile(rf"{re.escape(MANIFEST)}(\.[0-9a-f]+)?\.part")
"""Names of manifests that were not written to the end."""


def _write_manifest(folder: Path, text: str) -> None:
    torn = folder / f"{MANIFEST}.{uuid4().hex}.part"
    torn.write_text(f"{text}\n", encoding="utf-8", newline="\n")
    torn.replace(folder / MANIFEST)


def _check_same(folder: Path, wanted: object, verb: str = "resume", instead: str = "start without --resume") -> None:
    """Refuse to resume with the parts of another run.

    Raises:
        SettingsError: the manifest in the folder differs; the message names the keys.
    """
    try:
        there = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except FileNotFoundError:  # the folder is new, or the run was interrupted before its first part
        _drop_parts(folder)
        return
    except ValueError:
        raise SettingsError(f"cannot {verb} {folder}: its {MANIFEST} cannot be read; {instead}") from None
    before, now = dict(_flat(there)), dict(_flat(wanted))
    differ = [key for key in sorted(before | now) if before.get(key, _ABSENT) != now.get(key, _ABSENT)]
    if differ:
        shown = "; ".join(
            f"{key} was {before.get(key, _ABSENT)}, now {now.get(key, _ABSENT)}" for key in differ[:SHOWN]
        )
        more = f"; and {len(differ) - SHOWN} more" if differ[SHOWN:] else ""
        raise SettingsError(f"cannot {verb} {folder}, it holds another run: {shown}{more}; set them back, or {instead}")


_ABSENT = "absent"


def _flat(value: object, key: str = "") -> Iterator[tuple[str, str]]:
    """Leaves of nested JSON by dotted key, as short text; a long text ends in a digest, so that differences remain."""
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from _flat(inner, f"{key}.{name}" if key else name)
        return
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    if len(text) > 80:
        text = f"{text[:60]}... (sha256 {hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:8]})"
    yield key, text
