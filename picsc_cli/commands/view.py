"""`picsc view`: a saved report in any format, without computing it again."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from picsc_cli import gates
from picsc_cli.console import exits
from picsc_cli.gates import FailOn
from picsc_cli.options import common as options
from picsc_cli.output import destinations as outputs
from picsc_cli.output.publish import publish

if TYPE_CHECKING:
    from picsc.reports import Report

SavedReport = Annotated[
    str,
    typer.Argument(metavar="REPORT", help="A file of --output json:FILE; - is standard input.", show_default=False),
]


def view(
    report: SavedReport,
    output: options.Outputs = None,
    plot: options.Plot = None,
    fail_on: options.FailOnVerdict = None,
    exit_zero: options.ExitZero = False,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
) -> None:
    """Show a saved report as a table, or write it in another format, without computing it again.

    Exit code: that of the command that made the report, with --fail-on for audits; 2 a file that is no report of this
    version, 3 a bug in picsc. Conditions of `picsc compare` (--fail-under, --fail-on worse) are not asked again.
    """
    with exits.handle_errors():
        options.refuse_contradictions(*options.exclusive(verbose=verbose, quiet=quiet))
        found = _loaded(report)
        wanted = outputs.with_plot(outputs.parse(output or (), type(found)), plot, type(found))
        outputs.check(wanted, read=(report,))
        fails = fail_on or FailOn.SHIFT
        publish(found, wanted, verbose=verbose, quiet=quiet, fail_on=fails)
        code = gates.report_code(found, fails)
        raise typer.Exit(exits.FINE if exit_zero and code == exits.FINDING else code)


def _loaded(path: str) -> Report:
    from picsc.reports.saved import load_report, parse_report

    if path != "-":
        return load_report(path)
    return parse_report(sys.stdin.buffer.read().decode("utf-8-sig", "replace"), "standard input")
