"""`picsc recipe`: the recipes that come with picsc, checks without a run, and the JSON Schema for editors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from picsc.errors import RecipeError
from picsc_cli.console import exits, streams
from picsc_cli.console.help import PanelledCommand, SayingGroup
from picsc_cli.console.printable import printable
from picsc_cli.formats.table.data import aligned
from picsc_cli.options import common as options

app = typer.Typer(
    name="recipe",
    cls=SayingGroup,
    help="List the recipes that come with picsc, check recipes, and print their JSON Schema.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"default_map": {"help": False}},  # as in `app`, for the sake of `--help`
)
Files = Annotated[
    list[Path],
    typer.Argument(metavar="RECIPE", help="Files (YAML), or names from picsc recipe list.", show_default=False),
]


@app.command("list", cls=PanelledCommand)
def list_recipes() -> None:
    """List the recipes that come with picsc: name, command, and title. `picsc run NAME` runs one."""
    with exits.handle_errors():
        from picsc.recipes.bundled import bundled
        from picsc.recipes.load import load_recipes

        loaded = zip(bundled(), load_recipes(tuple(bundled().values()), with_data=False), strict=True)
        rows = [(name, one.recipe.verb, one.recipe.title) for name, one in loaded]
        streams.write_lines(aligned([("NAME", "COMMAND", "TITLE"), *rows]))


@app.command(cls=PanelledCommand)
def check(files: Files, isolated: options.Isolated = False) -> None:
    """Check recipes and run nothing; all problems of all files, with their lines.

    Exit code: 0 all are fine, 2 one is not, 3 a bug in picsc.
    """
    with exits.handle_errors():
        from picsc.recipes.load import load_recipes
        from picsc_cli.resolve import found_project

        project = found_project(isolated=isolated)
        sentences: list[str] = []
        for file in files:
            try:
                [loaded] = load_recipes([file], project)
            except RecipeError as error:
                sentences += error.problems
            else:
                runs = len(loaded.tasks)
                shown = printable(str(file))
                streams.write_lines(f"{shown}: fine, {runs} run{'s' if runs > 1 else ''} of {loaded.recipe.verb}\n")
        if sentences:
            raise RecipeError(tuple(sentences))


@app.command(cls=PanelledCommand)
def schema() -> None:
    """Print the JSON Schema of recipes, for editors that check YAML as it is written."""
    with exits.handle_errors():
        from picsc.settings.recipe_schema import schema_text

        streams.write_stdout(schema_text())
