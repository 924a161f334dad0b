"""Three clients with a file each, and the same rows in one file, for tests of real clients."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from picsc.datasets.load import load
from picsc.federated.federate import federate_dataset
from picsc.reports.fed import FedReport
from picsc.settings import FedSettings, validated

NAMES = ("north", "south", "west")


def sites(rows: int = 40, *, numbers: bool = False) -> pd.DataFrame:
    """Rows of three sites, one site after the other: numbers, a category, missing values, and a target."""
    rng = np.random.default_rng(0)
    site = np.repeat(np.arange(3), rows)
    y = rng.integers(0, 2, len(site))
    x = rng.normal(size=(len(site), 3)) + 1.5 * y[:, None] + rng.normal(size=(3, 3))[site]
    frame = pd.DataFrame(x.round(3), columns=list("abc")).assign(
        colour=np.array(["red", "green", "blue"])[rng.integers(0, 3, len(site))],
        site=np.array(NAMES)[site],
        y=x[:, 0] + y if numbers else np.where(y == 1, "yes", "no"),
    )
    frame.loc[rng.random(len(site)) < 0.1, "b"] = np.nan
    return frame


def settings_of(**values: object) -> FedSettings:
    given = {
        "read": {"target": "y"},
        "clients": {"by": "site"},
        "methods": ["fedavg", "scaffold", "picsc"],
        "rounds": 3,
        "epochs": 1,
        "hidden": 3,
        "lr": 0.1,
        "repeats": 1,
        "gamma": 0.0,
    }
    return validated(FedSettings, **{**given, **values})


def write(folder: Path, frame: pd.DataFrame) -> list[Path]:
    """A file for each site, without the column of the sites."""
    found = []
    for name in NAMES:
        found.append(folder / f"{name}.csv")
        frame[frame["site"] == name].drop(columns="site").to_csv(found[-1], index=False)
    return found


def simulated(folder: Path, frame: pd.DataFrame, settings: FedSettings) -> FedReport:
    """The simulation of the same clients."""
    path = folder / "together.csv"
    frame.to_csv(path, index=False)
    return federate_dataset(load(path, settings.read, keys=settings.keys), settings, run_dir=folder / "simulation")
