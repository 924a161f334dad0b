"""`picsc cv`: standard against corrected cross-validation of one data set."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import typer

from picsc.reports import CvReport
from picsc_cli import gates
from picsc_cli.console import exits, streams
from picsc_cli.options import common as options
from picsc_cli.options.bind import NOTHING, Given, of_table, takes_settings
from picsc_cli.options.common import Places
from picsc_cli.output import destinations as outputs
from picsc_cli.output.publish import publish
from picsc_cli.output.saved_model import Saved, saved_model, write_model
from picsc_cli.resolve import Demonstration, Found, Request, found_project, open_found, resolve_settings

if TYPE_CHECKING:
    from picsc.datasets.data import Data
    from picsc.settings import CvSettings
    from picsc.settings.choices import SavedMethod

DEMONSTRATION = Demonstration(options.DEMONSTRATION)


@takes_settings("cv")
def cv(
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
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
) -> None:
    """Compare standard with corrected cross-validation.

    Exit code: 0 fine, 1 a model without a result, 2 the input could not be used, 3 a bug in picsc.
    """
    with exits.handle_errors(exits.interrupted_line(run_dir)):
        share = options.shard_of(shard, resume=resume)
        options.refuse_contradictions(
            *options.exclusive(data, dataset, verbose=verbose, quiet=quiet), options.of_shuffle(of_table(given, "cut"))
        )
        from picsc.settings.choices import SAVED_METHODS

        saved = saved_model(save_model, save_method, SAVED_METHODS, in_shard=share is not None)
        wanted = outputs.with_plot(outputs.parse(output or (), CvReport), plot, CvReport)
        from picsc.settings import CvSettings

        request = Request(data, dataset, recipe, found_project(isolated=isolated), quiet)
        found = resolve_settings(CvSettings, given, request, DEMONSTRATION)
        outputs.check(
            outputs.with_predictions(wanted, predictions), read=(found.data, recipe, *found.settings.other_files)
        )
        if found.demonstration and not quiet:
            streams.warn(options.DEMONSTRATION_NOTE)
        places = Places(data_dir, run_dir, predictions, resume, share)
        with streams.progress(quiet=quiet) as progress:
            loaded, report = _cross_validated(found, places, progress=progress, saved=saved)
        publish(report, wanted, verbose=verbose, quiet=quiet)
        if saved is not None:
            from picsc.cross_validation.refit import refit

            write_model(saved, lambda method: refit(loaded, found.settings, report, method), quiet=quiet)
        raise typer.Exit(gates.result_code(report))


def _cross_validated(
    found: Found[CvSettings],
    places: Places,
    *,
    progress: Callable[[str], None] | None,
    saved: Saved[SavedMethod] | None,
) -> tuple[Data, CvReport]:
    """Load the data, then cross-validate."""
    data = open_found(found, places.data_dir)
    from picsc.cross_validation.cross_validate import cross_validate_dataset  # loads torch: after all other errors
    from picsc.cross_validation.refit import check_refit

    if saved is not None:
        check_refit(data, found.settings)
    report = cross_validate_dataset(
        data,
        found.settings,
        run_dir=places.run_dir,
        resume=places.resume,
        shard=places.shard,
        predictions=places.predictions,
        progress=progress,
    )
    return data, report
