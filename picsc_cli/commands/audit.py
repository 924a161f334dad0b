"""`picsc audit`: which pieces of a table are shifted against the rest of it."""

from __future__ import annotations

import typer

from picsc_cli import gates
from picsc_cli import resolve as layered
from picsc_cli.commands import audit_files as audited_files
from picsc_cli.console import exits, streams
from picsc_cli.options import common as options
from picsc_cli.options import fed as federated
from picsc_cli.options.reading import NOTHING, Read, takes_reading
from picsc_cli.output import destinations as outputs
from picsc_cli.output.publish import publish


@takes_reading
def audit(
    data: options.DataArguments = None,
    dataset: options.DatasetName = None,
    data_dir: options.DataDir = None,
    read: Read = NOTHING,
    no_target: options.NoTarget = False,
    folds: options.Folds = None,
    batches: options.Batches = None,
    by: options.By = None,
    time: options.Time = None,
    every: options.Every = None,
    cuts: options.Cuts = None,
    gap: options.Gap = None,
    group: options.Group = None,
    group_missing: options.GroupMissing = None,
    splitter: options.SplitterName = None,
    shuffle: options.Shuffle = False,
    clients: federated.Clients = None,
    partition: federated.Partition = None,
    concentration: federated.Concentration = None,
    classes: federated.Classes = None,
    noise: federated.Noise = None,
    min_rows: federated.MinRows = None,
    reference: options.ReferenceWord = None,
    level: options.Level = None,
    min_effect: options.MinEffect = None,
    gamma: options.Gamma = None,
    draws: options.Draws = None,
    block: options.Block = None,
    seed: options.Seed = None,
    jobs: options.Jobs = None,
    recipe: options.RecipeFile = None,
    isolated: options.Isolated = False,
    fail_on: options.FailOnVerdict = None,
    exit_zero: options.ExitZero = False,
    baseline: options.Baseline = None,
    write_baseline: options.WriteBaseline = None,
    output: options.AuditOutputs = None,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
) -> None:
    """Say which pieces of a table are shifted against the rest of it.

    Exit code: 0 fine, 1 a verdict at or above --fail-on that --baseline does not know, 2 the input could not be used, 3
    a bug in picsc. Of several files all are audited, and the worst counts.

    Reports are written before a non-zero exit. JUnit fails what --fail-on fails, whatever --exit-zero says. Annotations
    for GitHub go to standard error beside the report, unless they get a file, and the job's summary gets the Markdown.
    """
    with exits.handle_errors():
        first = next(iter(data or ()), None)
        options.refuse_contradictions(*options.exclusive(first, dataset, verbose=verbose, quiet=quiet))
        files = audited_files.each_once(data or ())
        project = layered.found_project(isolated=isolated)
        demonstration = first is None and dataset is None and recipe is None
        told = layered.outcome(None if demonstration else project)
        fail_on = fail_on or (gates.FailOn(told.fail_on) if told.fail_on else None)
        exit_zero = exit_zero or bool(told.exit_zero)
        baseline = baseline or (told.baseline if write_baseline is None else None)
        parsed = outputs.parse(output) if output else outputs.parse(told.outputs, option="tool.picsc.audit.output")
        wanted = outputs.with_baseline(parsed, write_baseline)
        from picsc.settings import AuditSettings

        flags: dict[str, object] = {
            "read": {**read, **options.drop_none(no_target=no_target or None)},
            "cut": options.drop_none(
                folds=folds,
                batches=batches,
                by=by,
                time=time,
                every=every,
                cuts=cuts,
                gap=gap,
                group=group,
                group_missing=group_missing,
                splitter=splitter,
                shuffle=shuffle or None,
            ),
            "clients": options.drop_none(
                clients=clients,
                partition=partition,
                concentration=concentration,
                classes=classes,
                noise=noise,
                min_rows=min_rows,
            ),
            **options.drop_none(
                reference=reference,
                level=level,
                min_effect=min_effect,
                gamma=gamma,
                draws=draws,
                block=block,
                seed=seed,
                jobs=jobs,
            ),
        }
        given = layered.resolve_settings(
            AuditSettings,
            flags,
            data=first,
            dataset=dataset,
            recipe=recipe,
            project=project,
            quiet=quiet,
        )
        settings = given.settings
        federated.of_partition(settings.clients, concentration=concentration, classes=classes, noise=noise)
        files, dataset = files or (() if given.data is None else (given.data,)), given.dataset
        compared = baseline if write_baseline is None else None  # which may take the place of the old one
        outputs.check(wanted, read=(*files, *settings.other_files, recipe, compared))
        if demonstration and not quiet:
            streams.warn(_demonstration_note(fail_on))
        name = options.DEMONSTRATION if demonstration else dataset
        found = audited_files.audited(files, name, data_dir, settings, baseline, quiet=quiet)
        fails = fail_on or (gates.FailOn.NEVER if demonstration else gates.FailOn.SHIFT)
        code = gates.audit_code(found, fails)
        if code == exits.UNUSABLE and write_baseline is not None:
            streams.warn(f"{write_baseline} is not written, since it would lack the files that could not be audited")
            wanted = tuple(each for each in wanted if each.format != outputs.BASELINE)
        publish(found, wanted, verbose=verbose, quiet=quiet, fail_on=fails)
        lenient = exit_zero or write_baseline is not None
        raise typer.Exit(exits.FINE if lenient and code == exits.FINDING else code)


def _demonstration_note(fail_on: gates.FailOn | None) -> str:
    note = options.DEMONSTRATION_NOTE
    return note if fail_on is not None else f"{note}, which exits 0 whatever the verdict"
