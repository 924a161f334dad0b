"""Learning rates are chosen on training rows."""

from __future__ import annotations

import numpy as np
import pandas as pd

import picsc
from picsc.datasets.load import from_frame
from picsc.federated.holdings import federated_split
from picsc.settings import FedSettings, validated


def rates(frame: pd.DataFrame, settings: FedSettings) -> list[tuple[float, ...]]:
    report = picsc.federate_dataset(from_frame(frame, settings.read, keys=settings.keys), settings)
    return [method.lr for method in report.methods]


def test_rates_do_not_depend_on_the_labels_of_test_rows() -> None:
    """With their labels turned round, the rate that scores best on the test rows is another one."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 240)
    x = rng.normal(size=(240, 3)) + 1.5 * y[:, None]
    frame = pd.DataFrame(x, columns=list("abc")).assign(who=[f"p{i % 4}" for i in range(240)], y=y)
    settings = validated(
        FedSettings,
        read={"target": "y"},
        clients={"by": "who"},
        rounds=4,
        epochs=1,
        hidden=3,
        repeats=1,
        lr="auto",
        methods=["fedavg", "scaffold"],
    )
    split = federated_split(from_frame(frame, settings.read, keys=settings.keys), settings, seed=settings.seed)
    tested = np.concatenate(split.test)
    turned = frame.assign(y=np.where(np.isin(np.arange(240), tested), 1 - y, y))
    assert rates(frame, settings) == rates(turned, settings)
