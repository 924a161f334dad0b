"""`picsc audit`: which pieces of a table are shifted against the rest of it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from picsc.errors import SettingsError
from picsc_cli import exits, options, outputs, streams

if TYPE_CHECKING:
    from picsc.reports import AuditReport
    from picsc.settings import AuditSettings

REFERENCE_WORDS = ("rest", "previous", "first")


def audit(
    data: options.DataArgument = None,
    dataset: options.DatasetName = None,
    data_dir: options.DataDir = None,
    target: options.Target = None,
    no_target: options.NoTarget = False,
    task: options.TaskName = None,
    categorical: options.Categorical = None,
    numeric: options.Numeric = None,
    drop: options.Drop = None,
    no_header: options.NoHeader = False,
    rename_duplicates: options.RenameDuplicates = False,
    folds: options.Folds = None,
    batches: options.Batches = None,
    by: options.By = None,
    time: options.Time = None,
    every: options.Every = None,
    cuts: options.Cuts = None,
    group: options.Group = None,
    splitter: options.SplitterName = None,
    shuffle: options.Shuffle = False,
    reference: options.ReferenceWord = None,
    level: options.Level = None,
    min_effect: options.MinEffect = None,
    gamma: options.Gamma = None,
    draws: options.Draws = None,
    block: options.Block = None,
    seed: options.Seed = None,
    jobs: options.Jobs = None,
    fail_on: options.FailOnVerdict = None,
    output: options.Outputs = None,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
) -> None:
    """Say which pieces of a table are shifted against the rest of it.

    Exit code: 0 fine, 1 a verdict at or above --fail-on, 2 the input could not be used, 3 a bug in picsc.
    """
    with exits.outcome():
        options.together(
            (data is not None and dataset is not None, f"choose a file ({data}) or --dataset {dataset}, not both"),
            (verbose and quiet, "choose --verbose or --quiet, not both"),
        )
        wanted = outputs.parse(output or ())
        from picsc.settings import AuditSettings, validated

        settings = validated(
            AuditSettings,
            read=options.given(
                target=target,
                no_target=no_target,
                task=task,
                categorical=options.names(categorical),
                numeric=options.names(numeric),
                drop=options.names(drop),
                header=not no_header,
                rename_duplicates=rename_duplicates,
            ),
            cut=options.given(
                folds=folds,
                batches=batches,
                by=by,
                time=time,
                every=every,
                cuts=cuts,
                group=group,
                splitter=splitter,
                shuffle=shuffle,
            ),
            **options.given(
                reference=reference,
                level=level,
                min_effect=min_effect,
                gamma=gamma,
                draws=draws,
                block=block,
                seed=seed,
                jobs=jobs or os.cpu_count(),
            ),
        )
        outputs.check(wanted)
        demonstration = data is None and dataset is None
        if demonstration and not quiet:
            streams.say(_demonstration_note(fail_on))
        report = _audited(data, options.DEMONSTRATION if demonstration else dataset, data_dir, settings, quiet=quiet)
        outputs.publish(report, wanted, verbose=verbose, quiet=quiet)
        default = exits.FailOn.NEVER if demonstration else exits.FailOn.SHIFT
        raise typer.Exit(exits.code(report.verdict, fail_on or default))


def _demonstration_note(fail_on: exits.FailOn | None) -> str:
    note = options.DEMONSTRATION_NOTE
    return note if fail_on is not None else f"{note}, which exits 0 whatever the verdict"


def _audited(
    data: str | None, name: str | None, data_dir: Path | None, settings: AuditSettings, *, quiet: bool
) -> AuditReport:
    """Load the table and its reference, then audit."""
    with streams.progress(quiet=quiet) as progress:
        reference_path = _reference_path(settings.reference)
        from picsc.datasets.intake import read_or_get
        from picsc.datasets.load import load

        dataset = read_or_get(
            name or str(data),
            named=name is not None,
            settings=settings.read,
            keys=settings.keys,
            data_dir=data_dir,
        )
        reference = load(reference_path, settings.read) if reference_path is not None else None
        from picsc.auditing import audit_dataset  # loads torch, so after everything that may be wrong with the data

        return audit_dataset(dataset, settings, reference=reference, progress=progress)


def _reference_path(reference: str | None) -> Path | None:
    """The file that `--reference` names; None for one of its words.

    Raises:
        SettingsError: it is neither a word nor a file.
    """
    if reference is None or reference in REFERENCE_WORDS:
        return None
    path = Path(reference)
    try:
        found = path.is_file()
    except OSError:  # a name that no file can have
        found = False
    if not found:
        raise SettingsError(
            f"--reference {reference}: there is no such file, and it is none of the words {', '.join(REFERENCE_WORDS)}"
        )
    return path
