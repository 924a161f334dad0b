"""`picsc fed`: clients that send models and statistics in place of rows: FedAvg, FedProx, SCAFFOLD and PIcsC."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import typer

from picsc.reports import FedReport
from picsc_cli import gates
from picsc_cli.console import exits, streams
from picsc_cli.options import common as options
from picsc_cli.options import fed as own
from picsc_cli.options.bind import NOTHING, Given, of_table, takes_settings
from picsc_cli.options.common import Places
from picsc_cli.output import destinations as outputs
from picsc_cli.output.publish import publish
from picsc_cli.output.saved_model import Saved, saved_model, write_model
from picsc_cli.resolve import Demonstration, Found, Request, found_project, open_found, resolve_settings

if TYPE_CHECKING:
    from picsc.datasets.data import Data
    from picsc.reports.fed import FedAuditReport
    from picsc.saved_models.refitted import Refitted
    from picsc.settings import FedSettings
    from picsc.settings.choices import FedMethod

DEMONSTRATION = Demonstration(
    "digits",
    {
        "clients": {"clients": 10, "partition": "noise", "noise": 1.0},
        "model": "mlp",
        "hidden": 16,
        "rounds": 10,
        "epochs": 1,
        "repeats": 2,
        "methods": ("fedavg", "fedprox", "scaffold", "picsc"),
    },
)
"""Noisy clients, a small model, few rounds, no controls."""
DEMONSTRATION_NOTE = (
    f"no DATA given, so this is a demonstration on scikit-learn's {DEMONSTRATION.dataset}, without picsc's controls; "
    "unless options say otherwise, each of 10 clients sees them through more noise than the one before"
)


@takes_settings("fed")
def fed(
    data: options.DataArgument = None,
    dataset: options.DatasetName = None,
    data_dir: options.DataDir = None,
    given: Given = NOTHING,
    audit_only: own.AuditOnly = False,
    recipe: options.RecipeFile = None,
    isolated: options.Isolated = False,
    run_dir: options.RunDir = None,
    resume: options.Resume = False,
    shard: options.ShardOfRun = None,
    save_model: options.SaveModel = None,
    save_method: options.SaveMethod = None,
    output: options.Outputs = None,
    plot: own.Plot = None,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
) -> None:
    """Train one model on clients that send models and statistics in place of rows, and compare methods.

    This is a simulation: there is no differential privacy and no secure aggregation, and docs/federated.md says what a
    server could infer.

    Exit code: 0 fine, 1 a run or client without a result, or with --audit-only a shifted client, 2 the input could
    not be used, 3 a bug in picsc.
    """
    with exits.handle_errors("interrupted" if audit_only else exits.interrupted_line(run_dir)):
        share = options.shard_of(shard, resume=resume)
        options.refuse_contradictions(
            *options.exclusive(data, dataset, verbose=verbose, quiet=quiet),
            ("epochs" in given and "steps" in given, "choose --epochs or --steps, not both"),
            (audit_only and plot is not None, "--plot draws rounds, and --audit-only has none"),
            (
                audit_only and (resume or run_dir is not None or share is not None),
                "--audit-only keeps no parts: leave out --run-dir, --resume and --shard",
            ),
            (audit_only and "engine" in given, "--audit-only trains no method: leave out --engine"),
            (audit_only and save_model is not None, "--audit-only trains no method: leave out --save-model"),
            (audit_only and "metrics" in given, "--audit-only trains no method: leave out --metric"),
            (audit_only and "whiten" in given, "--audit-only trains no method: leave out --whiten"),
            (audit_only and "inputs" in given, "--audit-only trains no method: leave out --inputs"),
        )
        from picsc.settings.choices import FED_METHODS

        saved = saved_model(save_model, save_method, FED_METHODS, in_shard=share is not None)
        wanted = outputs.with_plot(outputs.parse(output or (), FedReport), plot, FedReport)
        from picsc.settings import FedSettings

        request = Request(data, dataset, recipe, found_project(isolated=isolated), quiet)
        found = resolve_settings(FedSettings, given, request, DEMONSTRATION)
        clients, of_clients = found.settings.clients, of_table(given, "clients")
        options.refuse_contradictions(*options.of_partition(of_clients, clients))
        by_column = "min_rows" in of_clients and clients.by is not None
        options.refuse_contradictions((by_column, "--min-rows goes with --clients N, not with --by"))
        kept = found.settings.engine == "flower" and (resume or run_dir is not None)
        options.refuse_contradictions((kept, "--engine flower keeps no parts: leave out --run-dir and --resume"))
        outputs.check(wanted, read=(found.data, recipe))
        if found.demonstration and not quiet:
            streams.warn(DEMONSTRATION_NOTE)
        places = Places(data_dir, run_dir, resume=resume, shard=share)
        if audit_only:
            audited = _audited(found, places, quiet=quiet)
            publish(audited, wanted, verbose=verbose, quiet=quiet)
            raise typer.Exit(gates.report_code(audited, gates.FailOn.SHIFT))
        federated = _federated(found, places, saved, quiet=quiet)
        publish(federated.report, wanted, verbose=verbose, quiet=quiet)
        if saved is not None:
            write_model(saved, federated.refitted, quiet=quiet)
        raise typer.Exit(gates.result_code(federated.report))


@dataclass(frozen=True, slots=True)
class _Federated:
    """A comparison of federated methods, and what it was made of."""

    data: Data
    settings: FedSettings
    report: FedReport

    def refitted(self, method: FedMethod | None) -> Refitted:
        """The global model of all clients."""
        from picsc.federated.refit import refit

        return refit(self.data, self.settings, self.report, method)


def _loaded(
    found: Found[FedSettings], places: Places, progress: Callable[[str], None] | None
) -> tuple[Data, FedSettings]:
    """The data, and the settings with the clients that they have by themselves."""
    from picsc.datasets.catalog.natural_clients import with_own_clients  # loads pandas, as reading will

    named = None if found.demonstration else found.dataset
    found = replace(found, settings=with_own_clients(found.settings, named))
    data = open_found(found, places.data_dir)
    if progress is not None:
        progress("loading torch")  # seconds, and the data are read
    return data, found.settings


def _audited(found: Found[FedSettings], places: Places, *, quiet: bool) -> FedAuditReport:
    """Load the data, then audit the clients by their summaries."""
    with streams.progress(quiet=quiet) as progress:
        data, settings = _loaded(found, places, progress)
        from picsc.federated.audit_clients import audit_clients  # loads torch: after all other errors

        return audit_clients(data, settings, progress=progress)


def _federated(found: Found[FedSettings], places: Places, saved: Saved[FedMethod] | None, *, quiet: bool) -> _Federated:
    """Load the data, then train on the clients."""
    with streams.progress(quiet=quiet) as progress:
        data, settings = _loaded(found, places, progress)
        from picsc.federated.federate import federate_dataset  # loads torch: after all other errors
        from picsc.federated.refit import check_refit

        if saved is not None:
            check_refit(data, settings, saved.method)
        report = federate_dataset(
            data, settings, run_dir=places.run_dir, resume=places.resume, shard=places.shard, progress=progress
        )
        return _Federated(data, settings, report)
