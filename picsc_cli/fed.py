"""`picsc fed`: clients that never share a row, by FedAvg, FedProx, SCAFFOLD and PIcsC."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import typer

from picsc_cli import exits, options, outputs, streams
from picsc_cli import federated_options as federated
from picsc_cli import training_options as training
from picsc_cli.cv import interrupted_line

if TYPE_CHECKING:
    from picsc.fed_report import FedAuditReport, FedReport

DEMONSTRATION = "digits"
DEMONSTRATED = ("fedavg", "fedprox", "scaffold", "picsc")
"""Methods of the demonstration: without the controls it takes seconds."""
DEMONSTRATION_NOTE = (
    f"no DATA given, so this is a demonstration on scikit-learn's {DEMONSTRATION}, without picsc's controls; unless "
    "options say otherwise, each of 10 clients sees them through more noise than the one before"
)


def fed(
    data: options.DataArgument = None,
    dataset: options.DatasetName = None,
    data_dir: options.DataDir = None,
    target: options.Target = None,
    task: options.TaskName = None,
    categorical: options.Categorical = None,
    numeric: options.Numeric = None,
    drop: options.Drop = None,
    no_header: options.NoHeader = False,
    rename_duplicates: options.RenameDuplicates = False,
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
    with exits.outcome("interrupted" if audit_only else interrupted_line(run_dir)):
        demonstration = data is None and dataset is None
        options.together(
            (data is not None and dataset is not None, f"choose a file ({data}) or --dataset {dataset}, not both"),
            (verbose and quiet, "choose --verbose or --quiet, not both"),
            (epochs is not None and steps is not None, "choose --epochs or --steps, not both"),
            (
                concentration is not None and partition not in ("dirichlet", "quantity"),
                "--concentration goes with --partition dirichlet or quantity",
            ),
            (classes is not None and partition != "classes", "--classes goes with --partition classes"),
            (
                noise is not None and (partition or ("noise" if demonstration and by is None else None)) != "noise",
                "--noise goes with --partition noise",
            ),
            (min_rows is not None and by is not None, "--min-rows goes with --clients N, not with --by"),
            (audit_only and plot is not None, "--plot draws rounds, and --audit-only has none"),
            (
                audit_only and (resume or run_dir is not None),
                "--audit-only keeps no parts: leave out --run-dir and --resume",
            ),
        )
        wanted = outputs.with_plot(outputs.parse(output or (), outputs.FED_FORMATS), plot)
        invented = options.given(
            by=by,
            clients=clients,
            partition=partition,
            concentration=concentration,
            classes=classes,
            noise=noise,
            min_rows=min_rows,
        )
        chosen = options.given(
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
            jobs=jobs or os.cpu_count(),
        )
        if demonstration:
            invented, chosen = demonstrated(invented, chosen)
        from picsc.settings import FedSettings, validated

        settings = validated(
            FedSettings,
            read=options.given(
                target=target,
                task=task,
                categorical=options.names(categorical),
                numeric=options.names(numeric),
                drop=options.names(drop),
                header=not no_header,
                rename_duplicates=rename_duplicates,
            ),
            clients=invented,
            **chosen,
        )
        outputs.check(wanted)
        if demonstration and not quiet:
            streams.say(DEMONSTRATION_NOTE)
        from picsc.datasets.natural import with_own_clients  # loads pandas, as reading will

        settings = with_own_clients(settings, dataset)
        with streams.progress(quiet=quiet) as progress:
            from picsc.datasets.intake import read_or_get

            name = DEMONSTRATION if demonstration else dataset
            read = read_or_get(
                name or str(data),
                named=name is not None,
                settings=settings.read,
                keys=settings.keys,
                data_dir=data_dir,
            )
            report: FedReport | FedAuditReport
            if audit_only:
                from picsc.federated_auditing import audit_clients  # loads torch: after all that may be wrong above

                report = audited = audit_clients(read, settings, progress=progress)
                code = exits.code(audited.verdict, exits.FailOn.SHIFT)
            else:
                from picsc.federating import federate_dataset  # likewise

                report = trained = federate_dataset(read, settings, run_dir=run_dir, resume=resume, progress=progress)
                code = exits.FINDING if trained.failed else exits.FINE
        outputs.publish(report, wanted, verbose=verbose, quiet=quiet)
        raise typer.Exit(code)


def demonstrated(invented: dict[str, object], chosen: dict[str, object]) -> tuple[dict[str, object], dict[str, object]]:
    """What the demonstration does where the options say nothing: noisy clients, a small model, few rounds.

    Args:
        invented: options on clients that were given.
        chosen: all other settings that were given.
    """
    if "by" not in invented:
        noisy = {} if "partition" in invented else {"partition": "noise", "noise": 1.0}
        invented = {"clients": 10, **noisy, **invented}
    passes = {} if "steps" in chosen else {"epochs": 1}
    small = {"model": "mlp", "hidden": 16, "rounds": 10, "repeats": 2, "methods": DEMONSTRATED}
    return invented, {**small, **passes, **chosen}
