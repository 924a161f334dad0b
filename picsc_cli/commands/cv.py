"""`picsc cv`: standard against corrected cross-validation of one data set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from picsc_cli import resolve as layered
from picsc_cli.console import exits, streams
from picsc_cli.console.exits import interrupted_line
from picsc_cli.options import common as options
from picsc_cli.options import training
from picsc_cli.options.reading import NOTHING, Read, takes_reading
from picsc_cli.output import destinations as outputs
from picsc_cli.output.publish import publish

if TYPE_CHECKING:
    from picsc.reports.cv import CvReport
    from picsc.settings import CvSettings


@takes_reading
def cv(
    data: options.DataArgument = None,
    dataset: options.DatasetName = None,
    data_dir: options.DataDir = None,
    read: Read = NOTHING,
    folds: options.Folds = None,
    batches: options.Batches = None,
    by: options.By = None,
    time: options.Time = None,
    every: options.Every = None,
    cuts: options.Cuts = None,
    group: options.Group = None,
    splitter: options.SplitterName = None,
    no_shuffle: training.NoShuffle = False,
    validation: training.Validation = None,
    keep_rare: training.KeepRare = False,
    weights: training.Weights = None,
    method: training.Methods = None,
    algorithm: training.Algorithm = None,
    penalty: training.Penalty = None,
    strength: training.Strength = None,
    merge: training.Merge = None,
    warmup: training.Warmup = None,
    alpha: training.Alpha = None,
    gamma: training.Gamma = None,
    when_quiet: training.WhenQuiet = None,
    epochs: training.Epochs = None,
    rate: training.Rate = None,
    batch_size: training.BatchSize = None,
    optimizer: training.Optimizer = None,
    patience: training.Patience = None,
    device: training.Device = None,
    precision: training.Precision = None,
    repeats: training.Repeats = None,
    seed: options.Seed = None,
    jobs: options.Jobs = None,
    recipe: options.RecipeFile = None,
    isolated: options.Isolated = False,
    run_dir: options.RunDir = None,
    resume: options.Resume = False,
    output: options.OutputsWithCsv = None,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
) -> None:
    """Compare standard with corrected cross-validation.

    Exit code: 0 fine, 1 a model without a result, 2 the input could not be used, 3 a bug in picsc.
    """
    with exits.handle_errors(interrupted_line(run_dir)):
        ordered = next((way for way, asked in (("batches", batches), ("by", by), ("time", time)) if asked), "")
        options.refuse_contradictions(
            *options.exclusive(data, dataset, verbose=verbose, quiet=quiet),
            (no_shuffle and bool(ordered), f"--no-shuffle goes with --folds, not with --{ordered}"),
        )
        wanted = outputs.parse(output or (), outputs.CV_FORMATS)
        from picsc.settings import CvSettings

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
                shuffle=False if no_shuffle else None,
            ),
            "penalty": options.drop_none(
                kind=penalty,
                strength=strength,
                warmup=warmup,
                alpha=alpha,
                gamma=gamma,
                when_quiet=when_quiet,
                merge=merge,
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
            **options.drop_none(
                keep_rare=keep_rare or None,
                methods=options.names(method),
                algorithm=algorithm,
                repeats=repeats,
                validation=validation,
                weights=weights,
                seed=seed,
                jobs=jobs,
            ),
        }
        found = layered.resolve_settings(
            CvSettings,
            flags,
            data=data,
            dataset=dataset,
            recipe=recipe,
            project=layered.found_project(isolated=isolated),
            quiet=quiet,
        )
        settings, data, dataset = found.settings, found.data, found.dataset
        outputs.check(wanted, read=(data, recipe))
        if found.demonstration:
            dataset = options.DEMONSTRATION
            if not quiet:
                streams.warn(options.DEMONSTRATION_NOTE)
        report = _compared(data, dataset, data_dir, settings, run_dir, resume=resume, quiet=quiet)
        publish(report, wanted, verbose=verbose, quiet=quiet)
        raise typer.Exit(exits.FINDING if report.failed else exits.FINE)


def _compared(
    path: str | None,
    name: str | None,
    data_dir: Path | None,
    settings: CvSettings,
    run_dir: Path | None,
    *,
    resume: bool,
    quiet: bool,
) -> CvReport:
    """Load the data, then cross-validate."""
    with streams.progress(quiet=quiet) as progress:
        from picsc.datasets.open import open_source

        data = open_source(
            name or str(path),
            named=name is not None,
            settings=settings.read,
            keys=settings.keys,
            data_dir=data_dir,
        )
        from picsc.cross_validation.cross_validate import (
            cross_validate_dataset,  # loads torch, so after all that may be wrong above
        )

        return cross_validate_dataset(data, settings, run_dir=run_dir, resume=resume, progress=progress)
