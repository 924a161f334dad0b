"""The verb `federate`: clients under FedAvg, FedProx, SCAFFOLD, PIcsC and its controls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Unpack

from picsc.datasets.data import Data
from picsc.datasets.images import ImageSet
from picsc.datasets.open import open_data
from picsc.datasets.texts import TokenSet
from picsc.federated.all_repeats import run_all
from picsc.federated.build_clients import model_kind, refuse_whitening
from picsc.federated.client_findings import client_findings, seen_in_training
from picsc.federated.client_metrics import check_client_metrics
from picsc.federated.flower.settings_of_clients import refuse_unfit
from picsc.federated.holdings import (
    federated_split,
    labelled,
    refuse_small_clients,
    small_clients_finding,
)
from picsc.federated.method_run import Run
from picsc.federated.resumable_rounds import Progress, RepeatTask
from picsc.federated.summary import assemble
from picsc.reports.common import Finding
from picsc.runtime.devices import device_findings, pick_device
from picsc.runtime.engines.parts import RunPlace, open_workplace
from picsc.runtime.engines.shards import Shard
from picsc.runtime.threads import one_thread
from picsc.runtime.versions import versions
from picsc.settings import FedMethod, FedSettings
from picsc.settings.by_keyword import from_keywords
from picsc.settings.fields import HOW_IT_RUNS
from picsc.settings.in_python import in_keywords

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from picsc.datasets.memory import Frame
    from picsc.reports.fed import FedReport
    from picsc.settings.keywords import FedKeywords


def federate(
    data: Frame | ImageSet | TokenSet | ArrayLike | str | Path,
    y: ArrayLike | None = None,
    *,
    settings: FedSettings | None = None,
    progress: Progress | None = None,
    **keywords: Unpack[FedKeywords],
) -> FedReport:
    """Compare federated algorithms on clients simulated from one data set.

    Source: E6.

    Args:
        data: frame (of pandas, polars, pyarrow or whatever exports Arrow data), array (n, f), images as an `ImageSet`
            or an array (n, s, s) or (n, c, s, s), texts as a `TokenSet`, or a file's path.
        y: labels (n,) of a frame or an array, by position; their name, or `target`, is the target's.
        settings: all settings at once; keywords win over them. None is the defaults.
        progress: called with a few words whenever a new step begins.
        keywords: single settings by name (by, methods, rounds, ...): `picsc.settings.keywords.FedKeywords` and
            docs/settings.md list them all.

    Returns:
        The report; accuracies are fractions.

    Raises:
        SettingsError: a setting cannot be used.
        DataError: the data cannot be used.

    Example:
        >>> import picsc
        >>> from sklearn.datasets import load_iris
        >>> flowers = load_iris(as_frame=True).frame  # 50 rows of each species, one after another
        >>> chosen = {"clients": 3, "rounds": 2, "repeats": 1, "lr": 0.05, "methods": ("fedavg",)}
        >>> report = picsc.federate(flowers, target="target", **chosen)
        >>> [client.name for client in report.clients]
        ['client 1', 'client 2', 'client 3']
    """
    settings = from_keywords(FedSettings, "fed", keywords, settings)
    # a call from Python is not resumed, so nothing stays behind
    with in_keywords(FedSettings, "fed"), TemporaryDirectory(prefix="picsc-") as kept:
        dataset = open_data(data, y, settings.read, keys=settings.keys)
        return federate_dataset(dataset, settings, run_dir=Path(kept) / "run", progress=progress)


def federate_dataset(
    data: Data,
    settings: FedSettings,
    *,
    run_dir: Path | None = None,
    resume: bool = False,
    shard: Shard | None = None,
    progress: Progress | None = None,
) -> FedReport:
    """Compare federated algorithms on data that was read already.

    Args:
        data: the table, the images or the texts.
        settings: everything else.
        run_dir: folder where finished rounds are stored; None is a folder of the user's cache.
        resume: continue after the rounds that the folder holds.
        shard: this command's share of the runs; None is all.
        progress: called with one line about each step.

    Raises:
        SettingsError: an option does not fit the data.
        DataError: the data cannot be used, or a client failed; the message names it.
        NoReportYetError: a shard is done.

    Example:
        >>> import numpy as np
        >>> from picsc import FedSettings, federate_dataset
        >>> from picsc.datasets.open import open_data
        >>> chosen = {"clients": {"clients": 2}, "rounds": 1, "repeats": 1, "lr": 0.05, "methods": ["fedavg"]}
        >>> settings = FedSettings.model_validate(chosen)
        >>> rows = np.random.default_rng(0).normal(size=(200, 2))
        >>> report = federate_dataset(open_data(rows, rows[:, 0] > 0, settings.read), settings)
        >>> [method.method for method in report.methods]
        ['fedavg']
    """
    report_progress = progress or (lambda _: None)
    findings: list[Finding] = []
    data = labelled(data, findings, settings)
    check_client_metrics(data, settings)
    kind = model_kind(data, settings)
    if settings.engine == "flower":
        refuse_unfit(data, settings)
    repeats = settings.repeats or (3 if kind == "mlp" else 1)
    settings = settings.model_copy(update={"methods": tuple(dict.fromkeys(settings.methods))})
    device = pick_device(settings.device)
    findings += device_findings(device)
    manifest = {
        "versions": versions(),
        "device": device.name,
        "seed": settings.seed,
        "data_sha256": data.sha256,
        "settings": settings.model_dump(mode="json", exclude=HOW_IT_RUNS),
    }
    if settings.engine == "flower":  # whose numbers are those of a simulation up to rounding
        manifest["engine"] = settings.engine
    place, engine = RunPlace(run_dir, resume, shard), "local" if settings.engine == "flower" else settings.engine
    with one_thread():
        with open_workplace(place, manifest, engine, settings.jobs, report_progress) as workplace:
            report_progress("dealing rows out to the clients")
            # reports anything wrong with the clients at once
            split = federated_split(data, settings, seed=settings.seed)
            refuse_small_clients(split, settings)
            refuse_whitening(data, settings)
            findings += small_clients_finding(split, settings)
            findings += [*client_findings(data, split, settings), *seen_in_training(data, split)]
            found: Mapping[FedMethod, Sequence[Run]]
            if settings.engine == "flower":
                from picsc.federated.flower.loopback import run_on_loopback  # an extra of the installation

                found = run_on_loopback(data, settings.model_copy(update={"repeats": repeats}), report_progress)
            else:
                # small models of all methods are trained as one; larger ones one after another, in processes
                groups = [settings.methods] if kind == "mlp" else [(method,) for method in settings.methods]
                workers = 1 if workplace.engine.elsewhere else max(1, settings.jobs // (repeats * len(groups)))
                tasks = [
                    RepeatTask(data, settings, group, i, workplace.folder, workers)
                    for i in range(repeats)
                    for group in groups
                ]
                found = run_all(tasks, workplace, report_progress)
        report_progress("auditing the clients")
        return assemble(data, split, settings, repeats, found, findings, manifest)
