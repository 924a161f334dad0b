"""`picsc fed`: clients that never share a row, by FedAvg, FedProx, SCAFFOLD and PIcsC."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import typer

from picsc_cli import gates
from picsc_cli import resolve as layered
from picsc_cli.console import exits, streams
from picsc_cli.console.exits import interrupted_line
from picsc_cli.options import common as options
from picsc_cli.options import fed as federated
from picsc_cli.options import training
from picsc_cli.options.reading import NOTHING, Read, takes_reading
from picsc_cli.output import destinations as outputs
from picsc_cli.output.publish import publish

if TYPE_CHECKING:
    from picsc.reports.fed import FedAuditReport, FedReport

DEMONSTRATION = "digits"
DEMONSTRATED: Mapping[str, object] = {
    "clients": {"clients": 10, "partition": "noise", "noise": 1.0},
    "model": "mlp",
    "hidden": 16,
    "rounds": 10,
    "epochs": 1,
    "repeats": 2,
    "methods": ("fedavg", "fedprox", "scaffold", "picsc"),
}
"""What the demonstration does where nothing is said: noisy clients, a small model, few rounds, no controls."""
DEMONSTRATION_NOTE = (
    f"no DATA given, so this is a demonstration on scikit-learn's {DEMONSTRATION}, without picsc's controls; unless "
    "options say otherwise, each of 10 clients sees them through more noise than the one before"
)


@takes_reading
def fed(
    data: options.DataArgument = None,
    dataset: options.DatasetName = None,
    data_dir: options.DataDir = None,
    read: Read = NOTHING,
    by: federated.By = None,
    clients: federated.Clients = None,
    partition: federated.Partition = None,
    concentration: federated.Concentration = None,
    classes: federated.Classes = None,
    noise: federated.Noise = None,
    min_rows: federated.MinRows = None,
    validation: federated.Validation = None,
    most_rows: federated.MostRows = None,
    method: federated.Methods = None,
    proximal: federated.Proximal = None,
    strength: federated.Strength = None,
    alpha: training.Alpha = None,
    gamma: training.Gamma = None,
    delta: federated.Delta = None,
    aggregate: federated.Aggregate = None,
    mean: federated.Mean = None,
    server_lr: federated.ServerRate = None,
    server_momentum: federated.ServerMomentum = None,
    model: federated.Model = None,
    hidden: federated.Hidden = None,
    rounds: federated.Rounds = None,
    epochs: federated.Epochs = None,
    steps: federated.Steps = None,
    batch_size: federated.BatchSize = None,
    rate: federated.Rate = None,
    momentum: federated.Momentum = None,
    weight_decay: federated.WeightDecay = None,
    sample: federated.Sample = None,
    device: training.Device = None,
    repeats: federated.Repeats = None,
    target_accuracy: federated.TargetAccuracy = None,
    allow_failures: federated.AllowFailures = None,
    audit_only: federated.AuditOnly = False,
    seed: options.Seed = None,
    jobs: options.Jobs = None,
    recipe: options.RecipeFile = None,
    isolated: options.Isolated = False,
    run_dir: options.RunDir = None,
    resume: options.Resume = False,
    output: options.OutputsOfRecipes = None,
    plot: federated.Plot = None,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
) -> None:
    """Train one model on clients that never share a row, and compare methods.

    Exit code: 0 fine, 1 a run or client without a result, or with --audit-only a shifted client, 2 the input could
    not be used, 3 a bug in picsc.
    """
    with exits.handle_errors("interrupted" if audit_only else interrupted_line(run_dir)):
        options.refuse_contradictions(
            *options.exclusive(data, dataset, verbose=verbose, quiet=quiet),
            (epochs is not None and steps is not None, "choose --epochs or --steps, not both"),
            (audit_only and plot is not None, "--plot draws rounds, and --audit-only has none"),
            (
                audit_only and (resume or run_dir is not None),
                "--audit-only keeps no parts: leave out --run-dir and --resume",
            ),
        )
        wanted = outputs.with_plot(outputs.parse(output or (), outputs.FED_FORMATS), plot)
        flags: dict[str, object] = {
            "read": read,
            "clients": options.drop_none(
                by=by,
                clients=clients,
                partition=partition,
                concentration=concentration,
                classes=classes,
                noise=noise,
                min_rows=min_rows,
            ),
            **options.drop_none(
                methods=options.names(method),
                model=model,
                hidden=hidden,
                rounds=rounds,
                epochs=epochs,
                steps=steps,
                batch_size=batch_size,
                lr=rate,
                momentum=momentum,
                weight_decay=weight_decay,
                server_lr=server_lr,
                server_momentum=server_momentum,
                sample=sample,
                mean=mean,
                proximal=proximal,
                strength=strength,
                alpha=alpha,
                gamma=gamma,
                delta=delta,
                aggregate=aggregate,
                validation=validation,
                most_rows=most_rows,
                target_accuracy=target_accuracy,
                repeats=repeats,
                allow_failures=allow_failures,
                device=device,
                seed=seed,
                jobs=jobs,
            ),
        }
        from picsc.settings import FedSettings

        found = layered.resolve_settings(
            FedSettings,
            flags,
            data=data,
            dataset=dataset,
            recipe=recipe,
            project=layered.found_project(isolated=isolated),
            quiet=quiet,
            demonstrated=DEMONSTRATED,
        )
        settings, data, dataset = found.settings, found.data, found.dataset
        federated.of_partition(settings.clients, concentration=concentration, classes=classes, noise=noise)
        by_column = settings.clients.by is not None
        options.refuse_contradictions(
            (min_rows is not None and by_column, "--min-rows goes with --clients N, not with --by")
        )
        outputs.check(wanted, read=(data, recipe))
        if found.demonstration and not quiet:
            streams.warn(DEMONSTRATION_NOTE)
        from picsc.datasets.catalog.natural_clients import with_own_clients  # loads pandas, as reading will

        settings = with_own_clients(settings, dataset)
        with streams.progress(quiet=quiet) as progress:
            from picsc.datasets.open import open_source

            name = DEMONSTRATION if found.demonstration else dataset
            table = open_source(
                name or str(data),
                named=name is not None,
                settings=settings.read,
                keys=settings.keys,
                data_dir=data_dir,
            )
            report: FedReport | FedAuditReport
            if audit_only:
                from picsc.federated.audit_clients import (
                    audit_clients,  # loads torch: after all that may be wrong above
                )

                report = audited = audit_clients(table, settings, progress=progress)
                code = gates.code(audited.verdict, gates.FailOn.SHIFT)
            else:
                from picsc.federated.federate import federate_dataset  # likewise

                report = trained = federate_dataset(table, settings, run_dir=run_dir, resume=resume, progress=progress)
                code = exits.FINDING if trained.failed else exits.FINE
        publish(report, wanted, verbose=verbose, quiet=quiet)
        raise typer.Exit(code)
