"""One option of a command, as plain values: what `picsc_cli.options.generated` holds and `bind` hands to Typer."""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """One setting as an option of one command."""

    setting: str
    """Path of the setting with dots: `cut.folds`."""
    flag: str
    """`--folds`."""
    value: str
    """`text`, `names` (a comma list, repeatable), `whole`, `number` or `switch` (no value)."""
    metavar: str
    """Name of the value in `--help`; empty for a switch."""
    help: str
    """One line, with the default."""
    panel: str
    """Heading in `--help`."""
    turns: bool = True
    """The value that a switch gives the setting."""
    opposite: str = ""
    """Name of the switch that gives it the other value; empty where there is none."""
    choices: tuple[str, ...] = ()
    """Words that the option takes; empty where it takes others."""
