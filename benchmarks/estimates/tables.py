"""Tables of many rows, of which a sample is drawn and the rest is the truth. Files lie under `PICSC_DATA`.

Columns are standardised by the whole table once, which is part of the law that samples are drawn from.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from estimates import laws


class Table(NamedTuple):
    """Standardised columns, classes, and the group of each row."""

    x: NDArray[np.float32]
    y: NDArray[np.int64]
    group: NDArray[np.int64] | None = None


def table(x: NDArray[np.generic], y: object, group: object = None) -> Table:
    values = np.asarray(x, np.float64)
    spread = values.std(0)
    values = ((values - values.mean(0)) / np.where(spread > 0, spread, 1))[:, spread > 0]
    codes = pd.factorize(np.asarray(y), sort=True)[0].astype(np.int64)
    of = None if group is None else pd.factorize(np.asarray(group), sort=True)[0].astype(np.int64)
    return Table(np.clip(values, -8, 8).astype(np.float32), codes, of)


def _data() -> Path:
    return Path(os.environ["PICSC_DATA"])


def _stream(name: str) -> Callable[[], Table]:
    def load() -> Table:
        frame = pd.read_csv(_data() / "drift_streams" / name)
        return table(frame.iloc[:, :-1].to_numpy(), frame.iloc[:, -1])

    return load


def _pooled(images: NDArray[np.generic], by: int) -> NDArray[np.float64]:
    """Means of squares of pixels, as columns."""
    n, size = len(images), images.shape[1] // by
    parts = images.reshape(n, size, by, size, by, -1).astype(np.float64)
    return parts.mean((2, 4)).reshape(n, -1)


def _idx(folder: str) -> Callable[[], Table]:
    def load() -> Table:
        x, y = [], []
        for part in ("train", "t10k"):
            (images,) = (_data() / folder).glob(f"{part}-images*")
            (labels,) = (_data() / folder).glob(f"{part}-labels*")
            x.append(np.frombuffer(gzip.decompress(images.read_bytes()), np.uint8, offset=16).reshape(-1, 28, 28))
            y.append(np.frombuffer(gzip.decompress(labels.read_bytes()), np.uint8, offset=8))
        return table(_pooled(np.concatenate(x), 4), np.concatenate(y))

    return load


def ratings() -> Table:
    """Students' ratings of lecturers, 4 and more against less; groups are lecturers."""
    frame = pd.read_csv(_data() / "site_tabular" / "lme4_InstEval.csv")
    x = pd.get_dummies(frame[["studage", "lectage", "service", "dept"]], columns=["dept"]).to_numpy(np.float64)
    return table(x, frame["y"] >= 4, frame["d"])


def quarrels() -> Table:
    """Answers of persons on verbal aggression; groups are persons."""
    frame = pd.read_csv(_data() / "site_tabular" / "lme4_VerbAgg.csv")
    x = pd.get_dummies(frame[["Anger", "Gender", "btype", "situ", "mode"]]).to_numpy(np.float64)
    return table(x, frame["r2"], frame["id"])


def activity() -> Table:
    """Activities by 45 features of sensors; groups are persons."""
    found = np.load(_data() / "uci_har_subjects" / "har_feat45.npz")
    names = {name.lower(): name for name in found.files}
    of = {key: found[next(names[n] for n in names if n.startswith(key))] for key in ("x", "y", "s")}
    return table(of["x"], of["y"], of["s"])


def parkinson() -> Table:
    """Voices of persons, total score above its median; groups are persons."""
    frame = pd.read_csv(_data() / "parkinsons_telemonitoring" / "parkinsons_updrs.data")
    scores = frame.pop("total_UPDRS")
    group = frame.pop("subject#")
    return table(frame.drop(columns="motor_UPDRS").to_numpy(), scores > scores.median(), group)


TABLES: dict[str, Callable[[], Table]] = {
    "elec2": _stream("elec.csv"),
    "sea": _stream("sea_stream.csv"),
    "ratings": ratings,
    "mnist": _idx("mnist"),
    "fashion-mnist": _idx("fashion_mnist"),
    "linear law": lambda: table(*laws.linear()),
    "curved law": lambda: table(*laws.curved()),
    "hastie law": lambda: table(*laws.hastie()),
    "weather": _stream("weather.csv"),
    "activity": activity,
    "parkinson": parkinson,
    "quarrels": quarrels,
    "grouped law": lambda: table(*laws.grouped()),
    "drifting law": lambda: table(*laws.drifting()),
}
SAME = ("elec2", "sea", "ratings", "mnist", "fashion-mnist", "linear law", "curved law", "hastie law", "weather")
"""Tables with 20,000 or more rows; the last has 18,159."""
GROUPS = ("ratings", "activity", "parkinson", "quarrels", "grouped law")
FUTURE = ("elec2", "weather", "sea", "drifting law")
