"""`picsc config`: the settings that a command would run with, and where each comes from."""

from __future__ import annotations

import difflib
import json
import os
from pathlib import Path
from typing import Annotated, Any

import typer

from picsc.errors import SettingsError
from picsc_cli import resolve as layered
from picsc_cli.console import exits, streams
from picsc_cli.console.printable import printable
from picsc_cli.console.safe import json_document
from picsc_cli.formats.table.data import aligned
from picsc_cli.options.generated import ROWS

VERBS = tuple(ROWS)
Words = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[VERB] [OPTION]...",
        help="audit (the default), cv, compare or fed, and its options.",
        show_default=False,
    ),
]


def config(ctx: typer.Context, words: Words = None) -> None:
    """Show the settings a command would run with, and where each comes from.

    Flags win over a recipe (--recipe FILE), that over [tool.picsc] in pyproject.toml, and that over defaults. In
    pyproject.toml, min-effect and min_effect are the same key. With --output json it is JSON. Reads no data.

    Exit code: 0 fine, 2 the settings could not be used, 3 a bug in picsc.
    """
    given = words or []
    with exits.handle_errors():
        _check_verb(given[0] if given else VERBS[0])
    verb, arguments = (given[0], given[1:]) if given and given[0] in VERBS else (VERBS[0], given)
    group: Any = ctx.parent
    with exits.handle_errors():
        command = group.command.get_command(group, verb)
    with layered.only_settings() as shown:
        try:
            with command.make_context(verb, list(arguments), parent=group) as inside:
                command.invoke(inside)
        except typer.Exit:
            if shown.resolved is None:  # its help was asked for, or it has reported what is wrong
                raise
    with exits.handle_errors():
        as_json = (inside.params.get("output") or [""])[-1] == "json"
        streams.write_lines(_json(verb, shown) if as_json else _table(verb, shown))


def _check_verb(word: str) -> None:
    """A first word that is no option, no verb and no file is a verb that was meant.

    Raises:
        SettingsError: it is one.
    """
    is_path = Path(word).suffix or Path(word).name != word or os.path.exists(word)  # noqa: PTH110 - any word, however long
    bare = word not in VERBS and not word.startswith("-") and not is_path
    if bare:
        near = difflib.get_close_matches(word, VERBS, n=1)
        meant = f"; did you mean {near[0]}?" if near else ""
        raise SettingsError(f"picsc config shows the settings of {', '.join(VERBS)}, and {word!r} is none{meant}")


def _rows(shown: layered.Shown) -> list[tuple[str, object, str]]:
    rows = list(shown.resolved.rows()) if shown.resolved is not None else []
    outcome = {} if shown.outcome is None else shown.outcome.model_dump(exclude_defaults=True)
    return rows + [(name, value, shown.project) for name, value in outcome.items()]


def _table(verb: str, shown: layered.Shown) -> str:
    """One setting per line; a value is written as JSON, which a recipe reads as well."""
    rows = [("SETTING", "FROM", "VALUE")]
    rows += [(name, origin, json.dumps(value, ensure_ascii=False)) for name, value, origin in _rows(shown)]
    project = shown.project or "no pyproject.toml with [tool.picsc]"
    return f"picsc {verb}, {printable(project)}\n\n{aligned(rows)}"


def _json(verb: str, shown: layered.Shown) -> str:
    settings = {name: {"value": value, "from": origin} for name, value, origin in _rows(shown)}
    body = {"schema": "picsc.config/1", "verb": verb, "pyproject": shown.project or None, "settings": settings}
    return json_document(json.dumps(body, indent=2)) + "\n"
