"""The global model of one federated method, trained on all rows of all clients, for use on new rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from picsc.datasets.data import Data
from picsc.datasets.encoding import fit
from picsc.errors import DataError, NumericsError, SettingsError
from picsc.evaluation.target_units import TargetUnits
from picsc.federated.algorithms.by_name import CONSTANTS, algorithm
from picsc.federated.build_clients import build
from picsc.federated.clients.build_mlps import MLP_UNITS
from picsc.federated.clients.mlps import ClientMlps
from picsc.federated.holdings import FederatedSplit, federated_split, labelled, refuse_small_clients
from picsc.federated.repeats import settings_of_rounds
from picsc.federated.resumable_rounds import RepeatTask, run_rounds
from picsc.federated.run_state import Contender
from picsc.federated.three_lines import by_score
from picsc.federated.tuning import Choice
from picsc.phrases import counted
from picsc.reports.fed import FedMethodReport, FedReport
from picsc.runtime.devices import pick_device
from picsc.runtime.run_folder import open_run
from picsc.runtime.threads import one_thread
from picsc.saved_models.card import card_text
from picsc.saved_models.model import model_of
from picsc.saved_models.refitted import Refitted, check_savable, of_whole_numbers
from picsc.saved_models.study_card import MethodFigures, Study, Trained, study_facts
from picsc.settings import FED_METHODS, FedMethod, FedSettings
from picsc.training.jobs import Scaling, TableNetwork

PLAIN: FedMethod = "fedavg"
"""The method that a model card compares the others with."""
BEST = "which has the best mean score over clients"


def check_refit(data: Data, settings: FedSettings, method: FedMethod | None = None) -> None:
    """Refuse, before any training, what has no model that could be saved.

    Args:
        data: to train on.
        settings: of the run.
        method: whose model is saved; None is the best one.

    Raises:
        SettingsError: the data are no table, or the method is not among those that run.
    """
    check_savable(data)
    if method is not None and method not in settings.methods:
        raise SettingsError(
            f"--save-method {method}: it is none of the methods that run, and its rate is chosen in the run: name it "
            "with --method as well"
        )


def refit(
    data: Data,
    settings: FedSettings,
    report: FedReport,
    method: FedMethod | None = None,
    *,
    progress: Callable[[str], None] | None = None,
) -> Refitted:
    """Train one method on all rows of all clients, with what it trained with in the first repeat.

    Reading: a whitening of the columns is a linear map, which is folded into the first layer's weights, so that the
        model takes the columns as they are encoded.

    Args:
        data: the table that the methods were compared on.
        settings: of that run.
        report: of that run, for the method, its learning rate and constant, and the model card.
        method: one of those that were run; None is the one with the best mean score over clients.
        progress: called with one line about each round.

    Raises:
        SettingsError: the data are no table, or the method was not run.
        DataError: no method has a result.
        NumericsError: training left the finite numbers.
    """
    check_refit(data, settings, method)
    best = next((each.method for each in by_score(report.methods)), None)
    name = method or next((each for each in FED_METHODS if each == best), None)
    if name is None:
        raise DataError(f"{data.name}: no model is saved, because no method has a result; name one with --save-method")
    found = report.method(name)
    assert found is not None  # noqa: S101 - the methods that run are in the report
    choice = Choice(found.lr[0], found.constants[0] if found.constants else None, found.whitened[0])
    data = labelled(data, [], settings)
    split = _on_all_rows(federated_split(data, settings, seed=settings.seed))
    refuse_small_clients(split, settings)
    network = _trained(split, settings, name, choice, progress or (lambda _: None))
    table = split.data
    assert table.kind == "table"  # noqa: S101 - `check_refit` refuses all others
    rows = np.sort(np.concatenate(split.train))
    numbered, hidden = of_whole_numbers(data, table.target), settings.hidden or MLP_UNITS
    model = model_of(network, table, settings.read, hidden=hidden, numbered=numbered, rows=rows)
    how = [
        f"{report.partition}, {counted(report.rounds, 'round')}",
        f"learning rate {choice.rate:g}" + _constant(name, choice) + "; as in the first repeat",
        *(["columns whitened in training, which is part of the first layer here"] if choice.whitened else []),
    ]
    trained = Trained(name, method is not None, len(rows), how, "the best mean score over clients in the report")
    card = card_text(model, study_facts(_study(report), trained))
    return Refitted(model, name, method is None, card, "all rows of all clients", BEST)


def _on_all_rows(split: FederatedSplit) -> FederatedSplit:
    """The same clients, which train on their test rows as well; scores are of rows that were trained on, and unused."""
    rows = tuple(np.sort(np.concatenate(parts)) for parts in zip(split.train, split.test, strict=True))
    return replace(split, train=rows, test=rows)


def _trained(
    split: FederatedSplit, settings: FedSettings, name: FedMethod, choice: Choice, progress: Callable[[str], None]
) -> TableNetwork:
    """The global model after the last round.

    Raises:
        NumericsError: it, or a client, left the finite numbers.
    """
    device = pick_device(settings.device).device
    with (
        one_thread(),
        TemporaryDirectory(prefix="picsc-") as kept,
        open_run(Path(kept) / "run", {"saved model": name}, resume=False) as folder,
    ):
        clients = build(split, settings, device=device, workers=1, whitened=choice.whitened)
        assert isinstance(clients, ClientMlps)  # noqa: S101 - those of a table
        task = RepeatTask(split.data, settings, (name,), 0, folder, 1)
        contender = Contender(name, algorithm(name, settings, choice.constant), clients, (choice.rate,))
        rounds = settings_of_rounds(settings, len(split.clients), seed=task.seed)
        [state] = run_rounds(task, "rounds", [contender], rounds, progress)
        theta = clients.on_plain_features(state.state["theta"][0]).cpu().numpy()
    if state.failed_round[0] or not np.isfinite(theta).all():
        raise NumericsError(
            f"the {name} model of all rows left the finite numbers in round {state.failed_round[0]}: lower --lr"
        )
    table, rows = split.data, np.concatenate(split.train)
    assert table.kind == "table"  # noqa: S101 - `check_refit` refuses all others
    assert table.target is not None  # noqa: S101 - `federated_split` refuses tables without one
    units = TargetUnits.of(table.target.values[rows]) if table.target.kind == "numbers" else None
    return TableNetwork(theta, Scaling(fit(table, rows), units))


def _constant(name: FedMethod, choice: Choice) -> str:
    return "" if choice.constant is None else f", {CONSTANTS[name].symbol} {choice.constant:g}"


def _study(report: FedReport) -> Study:
    """What a model card says of the report."""
    return Study(
        report,
        PLAIN,
        [_figures(each) for each in report.methods],
        f"mean over clients, tested on {report.judged}, {counted(report.repeats, 'repeat')}; this model has learned "
        "from all rows of all clients, and was tested on none",
    )


def _figures(method: FedMethodReport) -> MethodFigures:
    plain = method.against(PLAIN)
    difference, p = (None, None) if plain is None else (plain.accuracy, plain.p)
    return MethodFigures(method.method, method.accuracy, method.interval, method.log_loss, difference, p)
