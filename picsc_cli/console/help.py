"""`--help` without rich, whose import takes longer than everything else, and messages for unknown words."""

from __future__ import annotations

import re
from typing import Any

from typer.core import TyperCommand, TyperGroup

from picsc_cli.console.usage import one_sentence

_SWITCHES = re.compile(r"--(\S+) / --no-\1$")
"""Two switches of one setting, which `--help` shows as one, so that each setting has one line."""


class SayingGroup(TyperGroup):
    """A group of commands that answers a word which is none of them with one sentence."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # Typer's versions differ in whose Context this is
        """Read the options before the command."""
        with one_sentence(ctx, args):
            return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Find the command."""
        with one_sentence(ctx, args):
            return super().resolve_command(ctx, args)


class PanelledCommand(TyperCommand):
    """A command whose options are listed under the panels they name, in the order of their first option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words of the command."""
        with one_sentence(ctx, args):
            return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write one section per panel."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                kind = "Arguments" if parameter.param_type_name == "argument" else "Other"
                panel = getattr(parameter, "rich_help_panel", None) or kind
                names, text = record
                names = _SWITCHES.sub(r"--[no-]\1", names.partition(" <")[0])  # Typer may add " <str>"
                sections.setdefault(panel, []).append((names, text))
        for name, records in sections.items():
            with formatter.section(name):
                formatter.write_dl(records)
