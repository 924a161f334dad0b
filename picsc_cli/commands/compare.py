"""`picsc compare`: PIcsC beside plain training and importance weighting, where training and target rows differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from picsc_cli import gates as compare_gate
from picsc_cli import resolve as layered
from picsc_cli.console import exits, streams
from picsc_cli.console.exits import interrupted_line
from picsc_cli.options import common as options
from picsc_cli.options import compare as comparing
from picsc_cli.options import training
from picsc_cli.options.reading import NOTHING, Read, takes_reading
from picsc_cli.output import destinations as outputs
from picsc_cli.output.publish import publish

if TYPE_CHECKING:
    from picsc.reports.compare import CompareReport
    from picsc.settings import CompareSettings

DEMONSTRATION_NOTE = (
    f"{options.DEMONSTRATION_NOTE}; unless options say otherwise, its training rows are selected by their first "
    "principal component, so that the true weights are known"
)
DEMONSTRATED: Mapping[str, object] = {"repeats": 5, "bias": "auto"}
"""What the demonstration does where nothing is said: selected training rows, five repeats."""
_NEEDED = {"relative": "rulsif", "bound": "kmm", "ridge": "kmm", "match": "diw", "labelled": "diw"}
"""Options that one method alone listens to."""


@takes_reading
def compare(
    data: options.DataArgument = None,
    dataset: options.DatasetName = None,
    data_dir: options.DataDir = None,
    read: Read = NOTHING,
    folds: comparing.Folds = None,
    batches: options.Batches = None,
    by: options.By = None,
    time: options.Time = None,
    every: options.Every = None,
    cuts: options.Cuts = None,
    group: options.Group = None,
    splitter: options.SplitterName = None,
    train_on: comparing.TrainOn = None,
    test_on: comparing.TestOn = None,
    bias: comparing.Bias = None,
    bias_strength: comparing.BiasStrength = None,
    label_noise: comparing.LabelNoise = None,
    validation: comparing.Validation = None,
    adapt: comparing.Adapt = None,
    labelled: comparing.Labelled = None,
    most_rows: comparing.MostRows = None,
    method: comparing.Methods = None,
    algorithm: comparing.Algorithm = None,
    fragments: comparing.Fragments = None,
    penalty: training.Penalty = None,
    strength: training.Strength = None,
    merge: training.Merge = None,
    warmup: training.Warmup = None,
    alpha: training.Alpha = None,
    gamma: training.Gamma = None,
    weigh_on: comparing.WeighOn = None,
    exponent: comparing.Exponent = None,
    floor: comparing.Floor = None,
    relative: comparing.Relative = None,
    bound: comparing.Bound = None,
    ridge: comparing.Ridge = None,
    match: comparing.Match = None,
    epochs: training.Epochs = None,
    rate: training.Rate = None,
    batch_size: training.BatchSize = None,
    optimizer: training.Optimizer = None,
    patience: training.Patience = None,
    device: training.Device = None,
    precision: training.Precision = None,
    repeats: comparing.Repeats = None,
    seed: options.Seed = None,
    jobs: options.Jobs = None,
    recipe: options.RecipeFile = None,
    isolated: options.Isolated = False,
    run_dir: options.RunDir = None,
    resume: options.Resume = False,
    output: options.OutputsOfRecipes = None,
    timings: comparing.Timings = False,
    candidate: comparing.Candidate = None,
    fail_under: comparing.FailUnder = None,
    fail_on: comparing.FailOn = None,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
) -> None:
    """Compare PIcsC with plain training and importance weighting.

    Exit code: 0 fine, 1 a model without a result, or a candidate that --fail-under or --fail-on worse rejects, 2 the
    input could not be used, 3 a bug in picsc.
    """
    with exits.handle_errors(interrupted_line(run_dir)):
        of_one_method = options.drop_none(relative=relative, bound=bound, ridge=ridge, match=match, labelled=labelled)
        options.refuse_contradictions(*options.exclusive(data, dataset, verbose=verbose, quiet=quiet))
        wanted = outputs.parse(output or (), outputs.COMPARE_FORMATS)
        gate = compare_gate.gate(candidate, fail_under, fail_on)
        flags: dict[str, object] = {
            "read": read,
            "cut": options.drop_none(
                folds=folds,
                batches=batches,
                by=by,
                time=time,
                every=every,
                cuts=cuts,
                group=group,
                splitter=splitter,
            ),
            "penalty": options.drop_none(
                kind=penalty, strength=strength, warmup=warmup, alpha=alpha, gamma=gamma, merge=merge
            ),
            "train": options.drop_none(
                epochs=epochs,
                lr=rate,
                batch_size=batch_size,
                optimizer=optimizer,
                patience=patience,
                device=device,
                precision=precision,
            ),
            "weigh": options.drop_none(
                space=weigh_on, exponent=exponent, floor=floor, relative=relative, bound=bound, ridge=ridge, match=match
            ),
            **options.drop_none(
                train_on=options.names(train_on),
                test_on=options.names(test_on),
                bias=bias,
                bias_strength=bias_strength,
                label_noise=label_noise,
                fragments=fragments,
                methods=options.names(method),
                algorithm=algorithm,
                validation=validation,
                adapt=adapt,
                labelled=labelled,
                most_rows=most_rows,
                repeats=repeats,
                seed=seed,
                jobs=jobs,
            ),
        }
        from picsc.settings import CompareSettings

        found = layered.resolve_settings(
            CompareSettings,
            flags,
            data=data,
            dataset=dataset,
            recipe=recipe,
            project=layered.found_project(isolated=isolated),
            quiet=quiet,
            demonstrated=DEMONSTRATED,
        )
        settings, data, dataset = found.settings, found.data, found.dataset
        options.refuse_contradictions(
            (
                bias_strength is not None and settings.bias is None and not found.demonstration,
                "--bias-strength goes with --bias COL",
            ),
            *(
                (_NEEDED[name] not in settings.methods, f"--{name} goes with --method {_NEEDED[name]}")
                for name in of_one_method
            ),
        )
        compare_gate.check(gate, settings.methods)
        outputs.check(wanted, read=(data, recipe, *settings.test_on))
        if found.demonstration:
            dataset = options.DEMONSTRATION
            if not quiet:
                streams.warn(DEMONSTRATION_NOTE)
        report = _compared(data, dataset, data_dir, settings, run_dir, resume=resume, quiet=quiet)
        took = time_line(report)
        publish(report if timings else untimed(report), wanted, verbose=verbose, quiet=quiet)
        rejected = compare_gate.verdicts(report, gate)
        for sentence in ((took,) if took and not timings and not quiet else ()) + rejected:
            streams.warn(sentence)
        raise typer.Exit(exits.FINDING if rejected or report.failed else exits.FINE)


def untimed(report: CompareReport) -> CompareReport:
    """The report without what differs from run to run, so that the same seed gives the same bytes."""
    return replace(report, measured=())


def time_line(report: CompareReport) -> str:
    """What every method took, on one line; nothing where nothing was measured."""
    took = ", ".join(f"{measured.method} {measured.seconds:.1f} s" for measured in report.measured)
    return took and f"time: {took}"


def _compared(
    path: str | None,
    name: str | None,
    data_dir: Path | None,
    settings: CompareSettings,
    run_dir: Path | None,
    *,
    resume: bool,
    quiet: bool,
) -> CompareReport:
    """Load the data and, where it is a file of its own, the target; then compare."""
    with streams.progress(quiet=quiet) as progress:
        from picsc.datasets.files.libsvm import read_alike
        from picsc.datasets.open import open_source

        if path is not None:
            settings = read_alike(settings, path)
        data = open_source(
            name or str(path),
            named=name is not None,
            settings=settings.read,
            keys=settings.keys,
            data_dir=data_dir,
        )
        from picsc.comparison.compare import (  # loads torch, so after all that may be wrong above
            compare_dataset,
            target_file,
        )

        return compare_dataset(
            data,
            settings,
            target=target_file(settings),
            run_dir=run_dir,
            resume=resume,
            progress=progress,
        )
