"""`picsc run`: recipes, one table each with the paper's numbers beside ours."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from picsc_cli import exits, options, outputs, streams
from picsc_cli.cv import interrupted_line

Recipes = Annotated[list[Path], typer.Argument(metavar="RECIPE", help="Recipe files (YAML).", show_default=False)]


def run(
    recipes: Recipes,
    data_dir: options.DataDir = None,
    jobs: options.Jobs = None,
    run_dir: options.RunDir = None,
    resume: options.Resume = False,
    output: options.OutputsOfRecipes = None,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
) -> None:
    """Run recipes and show the paper's numbers beside ours.

    Exit code: 0 fine, 1 a data set or a model without a result, 2 a recipe could not be used, 3 a bug in picsc.
    """
    with exits.outcome(interrupted_line(run_dir)):
        options.together((verbose and quiet, "choose --verbose or --quiet, not both"))
        wanted = outputs.parse(output or (), outputs.RECIPE_FORMATS)
        from picsc.recipes import load_recipes

        loaded = load_recipes(recipes)
        outputs.check(wanted)
        with streams.progress(quiet=quiet) as progress:
            from picsc.recipes_run import run_recipes  # loads scipy, so after everything that may be wrong above

            report = run_recipes(
                loaded,
                data_dir=data_dir,
                jobs=jobs or os.cpu_count() or 1,
                run_dir=run_dir,
                resume=resume,
                progress=progress or (None if quiet else streams.say),
            )
        outputs.publish(report, wanted, verbose=verbose, quiet=quiet)
        raise typer.Exit(exits.FINDING if report.failed else exits.FINE)
