"""Settings of `picsc fed` that real clients have, and the part of them that is sent to them. Loads nothing heavy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picsc.errors import SettingsError
from picsc.settings import FedSettings
from picsc.settings.cutting import PartitionSettings

if TYPE_CHECKING:
    from picsc.datasets.data import Data


def refuse_unfit(data: Data | None, settings: FedSettings) -> None:
    """Refuse settings that real clients do not have.

    Args:
        data: of clients on this machine; None where every client has a file of its own.
        settings: of the federation.

    Raises:
        SettingsError: a setting needs the rows of all clients in one process, or the data are no table.
    """
    if data is not None and data.kind != "table":
        raise SettingsError(f"--engine flower: real clients train on tables, and {data.name} holds {data.kind}")
    if settings.lr == "auto":
        raise SettingsError(
            "--lr auto: real clients train with a rate that is given; choose it in a simulation, then give --lr RATE"
        )
    if any(settings.whitenings):
        raise SettingsError("--whiten and --inputs are for simulations: real clients train on natural columns")
    if settings.metrics:
        raise SettingsError("--metric is for simulations: real clients send no predictions of single rows")
    if settings.model not in ("auto", "mlp"):
        raise SettingsError(f"--model {settings.model}: real clients train the mlp on tables")


def settings_of_clients(settings: FedSettings) -> FedSettings:
    """The settings that are sent to clients, which are whole files and cut nothing."""
    return settings.model_copy(update={"clients": PartitionSettings(), "jobs": 1, "device": "cpu"})
