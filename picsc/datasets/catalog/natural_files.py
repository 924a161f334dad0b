"""Readers of the files of tables with natural clients, in every layout in which they are distributed.

Letters: n rows, f features.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from picsc.datasets.catalog.directory import find_file
from picsc.datasets.files.read import read_frame
from picsc.errors import DataError
from picsc.runtime.digests import file_digest
from picsc.settings import ReadSettings

Found = tuple[pd.DataFrame, list[str]]
"""A frame of n rows, and the SHA-256 of every file."""
STRETCHES = 10
"""Number of clients that a stream is cut into."""
GASES = ("Ethanol", "Ethylene", "Ammonia", "Acetaldehyde", "Acetone", "Toluene")
"""Names of the gases, in the order of UCI's numbers, which count from 1."""
SITES = ("cleveland", "hungarian", "switzerland", "va")
_HEART_CODES = ("cp", "restecg", "slope", "thal")
_HEART = (
    *("age", "sex", "cp", "trestbps", "chol", "fbs", "restecg"),
    *("thalach", "exang", "oldpeak", "slope", "ca", "thal"),
)
_FEATURES = 128
_NUMBERED = ("rownames", "Unnamed: 0", "")
"""Names of the column of row names in tables that R wrote."""


def read_one_file(folder: Path, *, files: Sequence[str], rename: Mapping[str, str] | None = None) -> Found:
    """Read the first of these files that the folder holds, without R's row names.

    Args:
        folder: folder of the file.
        files: names that the file may have, the preferred one first.
        rename: new names of columns, by their names in the file; None renames no column.

    Raises:
        DataError: none of the files is there, or it holds no table.
    """
    path = find_file(folder, files)
    if path is None:
        raise DataError(f"{folder}: there is no {' or '.join(files)} in it; put the file there")
    table = read_frame(path, ReadSettings())
    frame = table.frame
    numbered = [column for column in frame.columns if column in _NUMBERED]
    return frame.drop(columns=numbered).rename(columns=dict(rename or {})), [table.sha256]


def read_stream(folder: Path, *, files: Sequence[str]) -> Found:
    """Read a table whose rows are in order of time, and divide it into ten stretches.

    Args:
        folder: folder of the file.
        files: names that the file may have, the preferred one first.

    Returns:
        Its columns and a further one, stretch, from 1 to 10, each with a tenth of the rows.

    Raises:
        DataError: none of the files is there, or it holds no table.
    """
    frame, digests = read_one_file(folder, files=files)
    return frame.assign(stretch=1 + np.arange(len(frame)) * STRETCHES // len(frame)), digests


def read_drift(folder: Path) -> Found:
    """Read batch1.dat, batch2.dat, ... of the gas sensors.

    Args:
        folder: folder of the files; a line is `gas,concentration,128 features`, or UCI's `gas;concentration 1:value
            ...` or `gas 1:value ...`.

    Returns:
        Columns gas, batch, concentration (where it is given) and x1 to x128.

    Raises:
        DataError: there is no such file, or a line has another layout.
    """
    numbered = {int(found.group(1)): path for path in folder.iterdir() if (found := _BATCH.fullmatch(path.name))}
    if not numbered:
        raise DataError(f"{folder}: there is no batch1.dat or other batch in it; put the batches there")
    batches, digests = [], []
    for number, path in sorted(numbered.items()):
        gases, values = _drift_lines(path)
        frame = pd.DataFrame(values[:, 1:], columns=[f"x{i + 1}" for i in range(_FEATURES)])
        frame.insert(0, "gas", gases)
        frame.insert(1, "batch", number)
        frame.insert(2, "concentration", values[:, 0])
        batches.append(frame)
        digests.append(file_digest(path))
    return pd.concat(batches, ignore_index=True).dropna(axis="columns", how="all"), digests


_BATCH = re.compile(r"batch0*(\d+)\.dat", re.IGNORECASE)


def _drift_lines(path: Path) -> tuple[list[str], NDArray[np.float64]]:
    """The gas of every line, and (n, 129) concentrations and features."""
    gases: list[str] = []
    rows: list[NDArray[np.float64]] = []
    for number, line in _lines(path):
        try:
            fields: Sequence[str]
            if "," in line:
                gas, *fields = line.split(",")
            else:
                head, *pairs = line.split()
                gas, _, concentration = head.partition(";")
                places, fields = zip(*(pair.split(":") for pair in pairs), strict=True)
                if places != _PLACES:
                    raise ValueError("features are not numbered from 1 to 128")
                fields = [concentration or "nan", *fields]
            if len(fields) != 1 + _FEATURES:
                raise ValueError(f"{len(fields)} numbers where there should be {1 + _FEATURES}")
            rows.append(np.asarray(fields, dtype=np.float64))
        except ValueError as error:
            raise DataError(
                f"{path}, line {number}: it is no measurement of 128 features ({error}); get the file again"
            ) from None
        gas = gas.strip()
        gases.append(GASES[int(gas) - 1] if gas in _GAS_NUMBERS else gas)
    if not rows:
        raise DataError(f"{path}: there are no measurements in it; get the file again")
    return gases, np.stack(rows)


_PLACES = tuple(str(i + 1) for i in range(_FEATURES))
_GAS_NUMBERS = frozenset(str(i + 1) for i in range(len(GASES)))


def read_activity(folder: Path) -> Found:
    """Read people's activities: har*.npz with x, y and subject, or UCI's train/ and test/.

    Args:
        folder: folder of the archive, or of train/X_train.txt, train/y_train.txt, train/subject_train.txt, the same of
            test, and optionally activity_labels.txt, which names the activities.

    Returns:
        Columns activity, subject and x1, x2, ...

    Raises:
        DataError: a file is missing or damaged, or their lengths differ.
    """
    parts = [part for part in ("train", "test") if (folder / part / f"X_{part}.txt").is_file()]
    if not parts:
        return _activity_archive(folder)
    digests: list[str] = []
    frames = []
    for part in parts:
        x, y, subject = (_numbers_file(folder / part / f"{kind}_{part}.txt", digests) for kind in ("X", "y", "subject"))
        frames.append(_activity(x.to_numpy(np.float64), y[0].to_numpy(), subject[0].to_numpy(), folder / part))
    frame = pd.concat(frames, ignore_index=True)
    labels = folder / "activity_labels.txt"
    if labels.is_file():
        names = dict(line.split(maxsplit=1) for _, line in _lines(labels) if len(line.split()) > 1)
        frame["activity"] = [names.get(code, code).strip() for code in frame["activity"]]
    return frame, digests


def _activity_archive(folder: Path) -> Found:
    path = next(iter(sorted(folder.glob("har*.npz"))), None)
    if path is None:
        raise DataError(f"{folder}: there is neither train/X_train.txt nor har*.npz in it; put the files there")
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            x, y, subject = (archive[name] for name in ("x", "y", "subject"))
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None
    except (ValueError, KeyError, EOFError, AttributeError, TypeError) as error:
        raise DataError(f"{path} is no npz archive with x, y and subject ({error}); get it again") from None
    return _activity(x, y, subject, path), [file_digest(path)]


def _activity(x: NDArray[Any], y: NDArray[Any], subject: NDArray[Any], where: Path) -> pd.DataFrame:
    if x.ndim != 2 or not y.shape == subject.shape == x.shape[:1]:
        raise DataError(
            f"{where}: features {x.shape}, activities {y.shape} and subjects {subject.shape} do not belong together; "
            "get the files again"
        )
    frame = pd.DataFrame(x.astype(np.float64), columns=[f"x{i + 1}" for i in range(x.shape[1])])
    frame.insert(0, "activity", [str(code) for code in y.tolist()])
    frame.insert(1, "subject", subject)
    return frame


def read_sites(folder: Path) -> Found:
    """Read processed.SITE.data of the four hospitals.

    Args:
        folder: folder of the files, with or without a header line; `?` and empty fields are missing values.

    Returns:
        UCI's 13 columns, site, and disease, which is yes where the narrowing of the vessels is above 0.

    Raises:
        DataError: there is no such file, or a file does not have 14 columns of numbers.
    """
    frames, digests = [], []
    for site in SITES:
        path = find_file(folder, [f"processed.{site}.data", f"{site}.data", f"{site}.csv"])
        if path is not None:
            frames.append(_hospital(path).assign(site=site))
            digests.append(file_digest(path))
    if not frames:
        raise DataError(f"{folder}: there is no processed.cleveland.data or other hospital in it; put the files there")
    frame = pd.concat(frames, ignore_index=True)
    for column in _HEART_CODES:
        frame[column] = frame[column].astype("category")
    return frame, digests


def _hospital(path: Path) -> pd.DataFrame:
    rows = [line.split(",") for _, line in _lines(path)]
    if rows and rows[0][0].strip().lower() == "age":
        del rows[0]
    wrong = next((i for i, row in enumerate(rows) if len(row) != len(_HEART) + 1), None)
    if not rows or wrong is not None:
        found = "there are no rows" if wrong is None else f"data row {wrong + 1} has {len(rows[wrong])} fields"
        raise DataError(f"{path}: {found} where there should be rows of {len(_HEART) + 1}; is it another file?")
    try:
        values = [[np.nan if field.strip() in ("", "?") else float(field) for field in row] for row in rows]
    except ValueError as error:
        raise DataError(f"{path}: a value is no number ({error}); is it another file?") from None
    frame = pd.DataFrame(values, columns=[*_HEART, "disease"])
    missing = frame["disease"].isna()
    frame["disease"] = np.where(frame["disease"] > 0, "yes", "no")
    frame.loc[missing, "disease"] = None
    return frame


def _numbers_file(path: Path, digests: list[str]) -> pd.DataFrame:
    """A file of numbers that are separated by blanks; its digest is appended to `digests`."""
    try:
        found = pd.read_csv(path, sep=r"\s+", header=None, dtype=np.float64)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}; put the file there") from None
    except ValueError as error:  # the base class of the parser's errors
        raise DataError(f"{path} is no file of numbers ({error}); get it again") from None
    digests.append(file_digest(path))
    return found if found.shape[1] > 1 else found.astype(np.int64)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Line numbers and lines that are not empty."""
    try:
        with path.open(encoding="utf-8") as file:
            yield from ((number, line) for number, line in enumerate(file, 1) if line.strip())
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise DataError(f"{path} is no UTF-8 text; is it another file?") from None
