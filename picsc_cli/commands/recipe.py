"""`picsc recipe`: check recipes without running them, and their JSON Schema for editors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from picsc.errors import RecipeError
from picsc_cli.console import exits, streams
from picsc_cli.console.help import PanelledCommand, SayingGroup
from picsc_cli.console.printable import printable
from picsc_cli.options import common as options

app = typer.Typer(
    name="recipe",
    cls=SayingGroup,
    help="Check recipes, and print their JSON Schema.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"default_map": {"help": False}},  # as in `app`, for the sake of `--help`
)
Files = Annotated[list[Path], typer.Argument(metavar="FILE", help="Recipe files (YAML).", show_default=False)]


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
