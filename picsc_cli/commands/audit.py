"""`picsc audit`: the pieces of a table that are shifted against the rest of it."""

from __future__ import annotations

import typer

from picsc.reports import AuditReports
from picsc_cli import gates
from picsc_cli.commands import audit_files
from picsc_cli.console import exits, streams
from picsc_cli.gates import FailOn
from picsc_cli.options import common as options
from picsc_cli.options.bind import NOTHING, Given, of_table, takes_settings
from picsc_cli.output import destinations as outputs
from picsc_cli.output.publish import publish
from picsc_cli.resolve import Demonstration, Request, found_project, outcome, resolve_settings

DEMONSTRATION = Demonstration(options.DEMONSTRATION)


@takes_settings("audit")
def audit(
    data: options.DataArguments = None,
    dataset: options.DatasetName = None,
    data_dir: options.DataDir = None,
    given: Given = NOTHING,
    recipe: options.RecipeFile = None,
    isolated: options.Isolated = False,
    fail_on: options.FailOnVerdict = None,
    exit_zero: options.ExitZero = False,
    baseline: options.Baseline = None,
    write_baseline: options.WriteBaseline = None,
    output: options.Outputs = None,
    plot: options.Plot = None,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
) -> None:
    """Say which pieces of a table are shifted against the rest of it.

    Exit code: 0 fine, 1 a verdict at or above --fail-on that --baseline does not know, 2 the input could not be used, 3
    a bug in picsc. Of several files all are audited, and the worst counts.

    Reports are written before a non-zero exit. JUnit fails what --fail-on fails, whatever --exit-zero says. Annotations
    for GitHub go to standard error next to the report, unless they get a file, and the job's summary gets the Markdown.
    """
    with exits.handle_errors():
        first = next(iter(data or ()), None)
        options.refuse_contradictions(*options.exclusive(first, dataset, verbose=verbose, quiet=quiet))
        files = audit_files.each_once(data or ())
        request = Request(first, dataset, recipe, found_project(isolated=isolated), quiet)
        of_project = outcome(request.project if request.has_data or recipe is not None else None)
        fail_on = fail_on or (FailOn(of_project.fail_on) if of_project.fail_on else None)
        exit_zero = exit_zero or bool(of_project.exit_zero)
        baseline = baseline or (of_project.baseline if write_baseline is None else None)
        option, texts = ("--output", output) if output else ("tool.picsc.audit.output", of_project.outputs)
        wanted = outputs.with_baseline(outputs.parse(texts, option=option), write_baseline)
        wanted = outputs.with_plot(wanted, plot, AuditReports)
        from picsc.settings import AuditSettings

        found = resolve_settings(AuditSettings, given, request, DEMONSTRATION)
        settings = found.settings
        options.refuse_contradictions(*options.of_partition(of_table(given, "clients"), settings.clients))
        files = files or (() if found.data is None else (found.data,))
        known = baseline if write_baseline is None else None  # a new baseline may take the place of the old one
        outputs.check(wanted, read=(*files, *settings.other_files, recipe, known))
        if found.demonstration and not quiet:
            streams.warn(_demonstration_note(fail_on))
        reports = audit_files.audited(files, found.dataset, data_dir, settings, baseline, quiet=quiet)
        unproven = FailOn.SHIFT if settings.equivalence is None else FailOn.INCONCLUSIVE
        fails = fail_on or (FailOn.NEVER if found.demonstration else unproven)
        code = gates.audit_code(reports, fails)
        if code == exits.UNUSABLE and write_baseline is not None:
            streams.warn(f"{write_baseline} is not written, since it would lack the files that could not be audited")
            wanted = tuple(each for each in wanted if each.format != outputs.BASELINE)
        publish(reports, wanted, verbose=verbose, quiet=quiet, fail_on=fails)
        lenient = exit_zero or write_baseline is not None
        raise typer.Exit(exits.FINE if lenient and code == exits.FINDING else code)


def _demonstration_note(fail_on: FailOn | None) -> str:
    note = options.DEMONSTRATION_NOTE
    return note if fail_on is not None else f"{note}, which exits 0 whatever the verdict"
