"""Findings of a federation on reading and dealing out: columns, clients, classes, and test rows seen in training.

They are those of an audit, in the words and with the options of `picsc fed`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from picsc.datasets.data import Data
from picsc.datasets.description import on_reading
from picsc.federated.holdings import FederatedSplit
from picsc.fragments import validate
from picsc.fragments.duplicates import tested_duplicates
from picsc.phrases import share
from picsc.reports.common import Finding
from picsc.settings import FedSettings

_ADVICE = {
    "sizes": "fewer clients have more rows each",
    "duplicate-rows": "remove the duplicates",
    "rare-class": "they cannot be with every client; merge or leave out these classes, or deal out to fewer clients",
}
"""Advice that differs from an audit's, by code."""


def client_findings(data: Data, split: FederatedSplit, settings: FedSettings) -> list[Finding]:
    """Findings on columns that were left out, on the encoding, and on the clients.

    Args:
        data: labelled rows.
        split: its clients.
        settings: the column of the clients.
    """
    table = data.as_table()
    findings = [each for each in split.made.findings if each.code != "unassigned-rows"]
    lost = len(split.made.unassigned)
    if lost and settings.clients.by is not None:
        message = f"{share(lost, table.n)} rows belong to no client: column {settings.clients.by!r} has no value there"
        findings.append(Finding("unassigned-rows", "warning", message, "fill them in, or drop these rows"))
    checked = validate(table, replace(split.made, findings=()))
    findings += [replace(each, advice=_ADVICE.get(each.code, each.advice)) for each in checked]
    return [*findings, *(on_reading(data) if data.kind == "table" else ())]


def seen_in_training(data: Data, split: FederatedSplit) -> list[Finding]:
    """A finding on test rows that have an equal row among the training rows of any client.

    Args:
        data: labelled rows, without the noise of clients.
        split: its clients.
    """
    if split.noise is not None:
        return []  # equal rows carry different noise
    tested = np.concatenate([split.official_test, *split.test])
    return tested_duplicates(data.as_table(), np.concatenate(split.train), tested, "test")
