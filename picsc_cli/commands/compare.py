"""`picsc compare`: PIcsC, plain training and importance weighting where training and target rows differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import typer

from picsc.reports import CompareReport
from picsc_cli import gates
from picsc_cli.console import exits, streams
from picsc_cli.options import common as options
from picsc_cli.options import compare as own
from picsc_cli.options.bind import NOTHING, Given, of_table, takes_settings
from picsc_cli.options.common import Places
from picsc_cli.output import destinations as outputs
from picsc_cli.output.publish import publish
from picsc_cli.output.saved_model import Saved, saved_model, write_model
from picsc_cli.resolve import Demonstration, Found, Request, found_project, open_found, resolve_settings

if TYPE_CHECKING:
    from picsc.datasets.data import Data
    from picsc.datasets.table import Dataset
    from picsc.saved_models.refitted import Refitted
    from picsc.settings import CompareSettings
    from picsc.settings.choices import CompareMethod

DEMONSTRATION = Demonstration(options.DEMONSTRATION, {"repeats": 5, "bias": "auto"})
"""Selected training rows, five repeats."""
DEMONSTRATION_NOTE = (
    f"{options.DEMONSTRATION_NOTE}; unless options say otherwise, its training rows are selected by their first "
    "principal component, so that the true weights are known"
)
_METHOD_OF = {"relative": "rulsif", "bound": "kmm", "ridge": "kmm", "match": "diw", "labelled": "diw"}
"""The one method that each of these settings belongs to."""


@takes_settings("compare")
def compare(
    data: options.DataArgument = None,
    dataset: options.DatasetName = None,
    data_dir: options.DataDir = None,
    given: Given = NOTHING,
    recipe: options.RecipeFile = None,
    isolated: options.Isolated = False,
    run_dir: options.RunDir = None,
    resume: options.Resume = False,
    shard: options.ShardOfRun = None,
    save_model: options.SaveModel = None,
    save_method: options.SaveMethod = None,
    output: options.Outputs = None,
    plot: options.Plot = None,
    predictions: options.Predictions = None,
    timings: own.Timings = False,
    candidate: own.Candidate = None,
    fail_under: own.FailUnder = None,
    fail_on: own.FailOn = None,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
) -> None:
    """Compare PIcsC with plain training and importance weighting.

    Exit code: 0 fine, 1 a model without a result, or a candidate that --fail-under or --fail-on worse rejects, 2 the
    input could not be used, 3 a bug in picsc.
    """
    with exits.handle_errors(exits.interrupted_line(run_dir)):
        share = options.shard_of(shard, resume=resume)
        options.refuse_contradictions(
            *options.exclusive(data, dataset, verbose=verbose, quiet=quiet), options.of_shuffle(of_table(given, "cut"))
        )
        wanted = outputs.with_plot(outputs.parse(output or (), CompareReport), plot, CompareReport)
        gate = gates.gate(candidate, fail_under, fail_on)
        from picsc.settings.choices import COMPARE_METHODS

        saved = saved_model(save_model, save_method, COMPARE_METHODS, in_shard=share is not None)
        from picsc.settings import CompareSettings

        request = Request(data, dataset, recipe, found_project(isolated=isolated), quiet)
        found = resolve_settings(CompareSettings, given, request, DEMONSTRATION)
        options.refuse_contradictions(*_contradictions(given, found))
        gates.check(gate, found.settings.methods)
        outputs.check(outputs.with_predictions(wanted, predictions), read=(found.data, recipe, *found.settings.test_on))
        if found.demonstration and not quiet:
            streams.warn(DEMONSTRATION_NOTE)
        compared = _compared(found, Places(data_dir, run_dir, predictions, resume, share), saved, quiet=quiet)
        report = compared.report
        publish(report if timings else untimed(report), wanted, verbose=verbose, quiet=quiet, gate=gate)
        took, rejected = time_line(report), gates.verdicts(report, gate)
        for sentence in ((took,) if took and not timings and not quiet else ()) + rejected:
            streams.warn(sentence)
        if saved is not None:
            write_model(saved, compared.refitted, quiet=quiet)
        raise typer.Exit(exits.FINDING if rejected else gates.result_code(report))


def untimed(report: CompareReport) -> CompareReport:
    """The report without what differs from run to run, so that the same seed gives the same bytes."""
    return replace(report, measured=())


def time_line(report: CompareReport) -> str:
    """The seconds of every method, on one line; nothing where nothing was measured."""
    took = ", ".join(f"{measured.method} {measured.seconds:.1f} s" for measured in report.measured)
    return took and f"time: {took}"


def _contradictions(given: Given, found: Found[CompareSettings]) -> Iterator[tuple[bool, str]]:
    """Options of a selection that is not made, and of methods that are not run."""
    settings = found.settings
    unbiased = "bias_strength" in given and settings.bias is None and not found.demonstration
    yield unbiased, "--bias-strength goes with --bias COL"
    for name, method in _METHOD_OF.items():
        if name in given or name in of_table(given, "weigh"):
            yield method not in settings.methods, f"--{name} goes with --method {method}"


@dataclass(frozen=True, slots=True)
class _Compared:
    """A comparison, and what it was made of."""

    data: Data
    target: Dataset | None
    settings: CompareSettings
    report: CompareReport

    def refitted(self, method: CompareMethod | None) -> Refitted:
        """A model for the one target."""
        from picsc.comparison.refit import refit

        return refit(self.data, self.settings, self.report, method, target=self.target)


def _compared(
    found: Found[CompareSettings], places: Places, saved: Saved[CompareMethod] | None, *, quiet: bool
) -> _Compared:
    """Load the data and, where it is a file of its own, the target; then compare."""
    with streams.progress(quiet=quiet) as progress:
        from picsc.datasets.files.libsvm import read_alike

        if found.dataset is None:
            found = replace(found, settings=read_alike(found.settings, str(found.data)))
        data, settings = open_found(found, places.data_dir), found.settings
        from picsc.comparison.compare import compare_dataset, target_file  # loads torch: after all other errors
        from picsc.comparison.refit import check_refit

        if saved is not None:
            check_refit(data, settings, saved.method)
        target = target_file(settings)
        report = compare_dataset(
            data,
            settings,
            target=target,
            run_dir=places.run_dir,
            resume=places.resume,
            shard=places.shard,
            predictions=places.predictions,
            progress=progress,
        )
        return _Compared(data, target, settings, report)
