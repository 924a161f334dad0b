"""Fields that several settings have: numbers with their bounds, and whole settings of more than one verb."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from picsc.reports.metrics import MetricName
from picsc.settings.choices import DeviceName
from picsc.settings.option import Option


def as_fraction(value: object) -> object:
    """An accuracy as a fraction: a number above 1 (and R² below -1) is in percent, any other is a fraction already.

    Args:
        value: what the user gave; what is no number is left as it is, for the type's own message.
    """
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return value / 100 if 1 < abs(value) <= 100 else value


def check_fed_engine(name: str) -> str:
    """An engine's name, or flower.

    Raises:
        ValueError: there is no such engine.
    """
    return name if name == "flower" else check_engine(name)


def check_engine(name: str) -> str:
    """An engine's name.

    Raises:
        ValueError: there is no such engine.
    """
    kind, colon, address = name.partition(":")
    if name != "local" and (kind != "dask" or (colon and not address)):
        raise ValueError(
            f"--engine {name}: must be local, dask, or dask:ADDRESS with the address of a scheduler, such as "
            "dask:tcp://10.0.0.1:8786"
        )
    return name


HOW_IT_RUNS = {"jobs", "engine"}
"""Settings that change no number, and so are not in a report or the manifest of a run."""
Count = Annotated[int, Field(ge=1)]
AtLeastTwo = Annotated[int, Field(ge=2)]
Repeats = Annotated[int, Field(ge=1, le=1000)]
NotNegative = Annotated[float, Field(ge=0)]
SmallShare = Annotated[float, Field(ge=0, lt=1)]
Rate = Annotated[float, Field(gt=0, le=1e30)]
Share = Annotated[float, Field(gt=0, lt=1)]
Accuracy = Annotated[float, BeforeValidator(as_fraction), Field(gt=0, le=1)]
"""Numbers with their bounds, for settings that may also be None or a word."""

Seed = Annotated[int, Field(ge=0, lt=2**32), Option("Seed of every random draw (default {default}).", "N", "Run")]
Jobs = Annotated[int, Field(ge=1), Option("Processor cores; never changes a number (default: all).", "N", "Run")]
Engine = Annotated[
    str,
    AfterValidator(check_engine),
    Option("local or dask[:ADDRESS]: where parts run (default {default}).", "NAME", "Run"),
]
FedEngine = Annotated[
    str,
    AfterValidator(check_fed_engine),
    Option("local, dask[:ADDRESS], or flower: on real nodes.", "NAME", "Run"),
]
Device = Annotated[DeviceName, Option("auto, cpu, cuda or mps (default {default}).", "NAME", "Training")]
Metrics = Annotated[
    tuple[MetricName, ...], Option("More scores: roc_auc, f1_macro, rmse, ..", "NAME,..", "Methods", flag="--metric")
]
Alpha = Annotated[float, Field(ge=0, le=1), Option("Weight of the past in Eq. 15 (default {default}).", "A", "Methods")]
Gamma = Annotated[NotNegative | None, Option("Threshold of tau (default: calibrated).", "G", "Methods")]
"""Settings with their options, declared once for all verbs that have them."""
