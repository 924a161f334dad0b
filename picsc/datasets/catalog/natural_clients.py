"""Tables whose rows come from several people, sites or batches, which are natural clients.

Neither the column that names the client nor further targets are covariates. Letters: n rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pandas as pd

from picsc.datasets.catalog.natural_files import read_activity, read_drift, read_one_file, read_sites, read_stream
from picsc.datasets.catalog.registry import known_as
from picsc.datasets.load import Origin, from_frame
from picsc.datasets.table import Dataset
from picsc.runtime.digests import digest
from picsc.settings import FedSettings, ReadSettings

Read = Callable[[Path], tuple[pd.DataFrame, list[str]]]
"""A function from a folder to the frame and the SHA-256 of every file."""


@dataclass(frozen=True, slots=True)
class NaturalTable:
    """A table with natural clients: its columns and its reader."""

    key: str
    """Column that names the client."""
    target: str
    """Column that is predicted."""
    read: Read
    leave: tuple[str, ...] = ()
    """Columns that are no covariates: further targets, parts of the target, and numbers of rows or people."""


NATURAL: dict[str, NaturalTable] = {
    "gas-sensor-drift": NaturalTable("batch", "gas", read_drift, ("concentration",)),
    "uci-har": NaturalTable("subject", "activity", read_activity),
    "heart-disease": NaturalTable("site", "disease", read_sites),
    "parkinsons-telemonitoring": NaturalTable(
        "subject",
        "total_UPDRS",
        partial(read_one_file, files=("parkinsons_updrs.data",), rename={"subject#": "subject"}),
        ("motor_UPDRS",),
    ),
    "noaa-weather": NaturalTable("stretch", "target", partial(read_stream, files=("weather.csv", "NOAA_weather.csv"))),
    "elec2": NaturalTable("stretch", "class", partial(read_stream, files=("elec.csv", "elec2.csv"))),
    "contraception": NaturalTable(
        "district",
        "use",
        partial(read_one_file, files=("mlmRev_Contraception.csv", "Contraception.csv")),
        ("woman",),
    ),
    "verbagg": NaturalTable("id", "r2", partial(read_one_file, files=("lme4_VerbAgg.csv", "VerbAgg.csv")), ("resp",)),
    "guimmun": NaturalTable(
        "comm", "immun", partial(read_one_file, files=("mlmRev_guImmun.csv", "guImmun.csv")), ("kid", "mom")
    ),
    "insteval": NaturalTable(
        "dept", "y", partial(read_one_file, files=("lme4_InstEval.csv", "InstEval.csv")), ("s", "d")
    ),
    "hsb82": NaturalTable("school", "mAch", partial(read_one_file, files=("mlmRev_Hsb82.csv", "Hsb82.csv"))),
    "london-exam": NaturalTable(
        "school", "normexam", partial(read_one_file, files=("mlmRev_Exam.csv", "Exam.csv")), ("student",)
    ),
}


def natural_client(name: str) -> str | None:
    """The column that names the client in a named table; None if the table has none.

    Args:
        name: name of the set, in any spelling.
    """
    entry = NATURAL.get(known_as(name) or "")
    return None if entry is None else entry.key


def with_own_clients(settings: FedSettings, name: str | None) -> FedSettings:
    """The settings with the column of the client filled in, if they name no clients and the table has its own.

    Args:
        settings: settings of the user.
        name: name of the set; None for a file.
    """
    if name is None or settings.clients.by is not None or settings.clients.clients is not None:
        return settings
    return settings.model_copy(update={"clients": settings.clients.model_copy(update={"by": natural_client(name)})})


def read_natural(folder: Path, name: str, settings: ReadSettings, *, keys: Sequence[str] = ()) -> Dataset:
    """Read a table with natural clients.

    Args:
        folder: folder of its files.
        name: name in `NATURAL`.
        settings: a target there takes precedence over the table's own, which then is no covariate either.
        keys: columns that cut the table; the column of the client is kept if it is one of them.

    Raises:
        DataError: a file cannot be read or is the wrong one, or its columns are not what the settings say.
    """
    entry = NATURAL[name]
    frame, digests = entry.read(folder)
    chosen = "--target"
    if settings.target is None and not settings.no_target:
        settings, chosen = settings.model_copy(update={"target": entry.target}), f"target of {name}"
    unwanted = {entry.key, entry.target, *entry.leave} - {settings.target, *keys, *settings.drop}
    return from_frame(
        frame.drop(columns=[column for column in frame.columns if column in unwanted]),
        settings,
        name=name,
        keys=keys,
        target_chosen=chosen,
        origin=Origin(str(folder), digest(digests)),
    )
