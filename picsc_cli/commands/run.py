"""`picsc run`: recipes, one table each with the paper's numbers next to ours."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from picsc.reports import RecipeReport
from picsc_cli import gates
from picsc_cli.commands import audit_files as audited_files
from picsc_cli.console import exits, streams
from picsc_cli.console.exits import interrupted_line
from picsc_cli.options import common as options
from picsc_cli.options import completion
from picsc_cli.output import destinations as outputs
from picsc_cli.output.publish import publish
from picsc_cli.resolve import found_project, of_project

Recipes = Annotated[
    list[Path],
    typer.Argument(
        metavar="RECIPE",
        help="Files (YAML), or names from picsc recipe list.",
        show_default=False,
        autocompletion=completion.recipes,
    ),
]


def run(
    recipes: Recipes,
    data_dir: options.DataDir = None,
    jobs: options.Jobs = None,
    engine: options.Engine = None,
    isolated: options.Isolated = False,
    run_dir: options.RunDir = None,
    resume: options.Resume = False,
    shard: options.ShardOfRun = None,
    exit_zero: options.ExitZero = False,
    output: options.Outputs = None,
    plot: options.Plot = None,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
) -> None:
    """Run recipes and show the paper's numbers next to ours.

    Settings of [tool.picsc] in pyproject.toml lie under those of the recipes.

    Exit code: 0 fine, 1 a shift, or a data set or a model without a result, 2 a recipe could not be used, 3 a bug in
    picsc.
    """
    with exits.handle_errors(interrupted_line(run_dir)):
        options.refuse_contradictions(*options.exclusive(verbose=verbose, quiet=quiet))
        share = options.shard_of(shard, resume=resume)
        audited_files.each_once([str(recipe) for recipe in recipes], "RECIPE")
        wanted = outputs.with_plot(outputs.parse(output or (), RecipeReport), plot, RecipeReport)
        from picsc.recipes.load import load_recipes

        project = found_project(isolated=isolated)
        loaded = load_recipes(recipes, project)
        asked = options.engine_of(engine or (project.engine if project is not None else None) or "local")
        tables = [task.data for recipe in loaded for task in recipe.tasks if task.is_file]
        outputs.check(wanted, read=(*recipes, *tables))
        if project is not None and not quiet:
            for recipe in loaded:
                sources = of_project(recipe.origins, project)
                if sources:
                    streams.warn(f"{recipe.path}: {sources}")
        with streams.progress(quiet=quiet) as progress:
            from picsc.recipes.run import run_recipes  # loads scipy, so after everything that may be wrong above
            from picsc.recipes.tasks import Place

            report = run_recipes(
                loaded,
                Place(data_dir, run_dir, resume, share),
                jobs=jobs or (project.jobs if project is not None else None) or os.cpu_count() or 1,
                engine=asked,
                progress=progress or (None if quiet else streams.warn),
            )
        publish(report, wanted, verbose=verbose, quiet=quiet)
        raise typer.Exit(exits.FINE if exit_zero else gates.recipes_code(report))
