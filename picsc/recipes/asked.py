"""Pieces as they were asked for, in words: folds, batches, clients or a target. Torch-free.

The words name the folder of a task, and rows with the same words belong to one mean over data sets.
"""

from __future__ import annotations

from dataclasses import dataclass

from picsc.settings import AuditSettings, CompareSettings, CutSettings, CvSettings, FedSettings


@dataclass(frozen=True, slots=True)
class Asked:
    """The pieces that one task asks for; those that it makes may be fewer."""

    words: str
    """Words for a person that are also part of the name of a folder: `10 folds`, `by site`."""
    count: int | None
    """Number of pieces or clients; None when it is the data set's own."""
    clients: str = ""
    """The clients that were asked for, as in `RecipeRow.clients`; empty where there are none."""
    target: str = ""
    """The target that was asked for, as in `RecipeRow.target`; empty where there is none."""


def of_audit(settings: AuditSettings) -> Asked:
    """Clients that are invented, or the pieces of a cut."""
    count = settings.clients.clients
    if count is None:
        return Asked("one piece", 1) if settings.other_files and settings.cut.uncut else _of_cut(settings.cut)
    words = _invented(count, settings.clients.partition)
    return Asked(words, count, clients=words)


def of_cv(settings: CvSettings) -> Asked:
    """The pieces of a cut."""
    return _of_cut(settings.cut)


def of_fed(settings: FedSettings) -> Asked:
    """Clients; data sets with clients of their own belong together, whatever the column."""
    clients = settings.clients
    natural = clients.clients is None
    words = "natural clients" if clients.clients is None else _invented(clients.clients, clients.partition)
    return Asked(f"by {clients.by}" if clients.by else words, None if natural else clients.clients, clients=words)


def of_compare(settings: CompareSettings) -> Asked:
    """The target, and the pieces of a cut where there is one."""
    cut, target = _of_cut(settings.cut), asked_target(settings)
    return Asked(cut.words if settings.cut.ways else target, cut.count, target=target)


def asked_target(settings: CompareSettings) -> str:
    """The target that was asked for; data sets with pieces of their own belong together, whatever the column."""
    if settings.bias is not None:
        return "selection bias"
    if settings.in_turn:
        for way in ("folds", "batches"):
            count = getattr(settings.cut, way)
            if count is not None:
                return f"each of {count} {way}"
        return "each piece in turn"
    if settings.cut.ways:
        return "named pieces"
    return "another file" if settings.test_on else "a part of the rows"


def _of_cut(cut: CutSettings) -> Asked:
    way = next(iter(cut.ways), "folds")
    words = f"{getattr(cut, way) or 10} {way}" if way in ("folds", "batches") else f"by {getattr(cut, way)}"
    return Asked(words, cut.folds or cut.batches or cut.cuts)


def _invented(count: int, partition: str | None) -> str:
    return f"{count} clients, {partition or 'iid'}"
