"""`--help` without rich, whose import alone takes longer than everything else that `--help` does."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand


class PanelledCommand(TyperCommand):
    """A command whose options are listed under the panels they name, in the order of their first option."""

    def format_options(self, ctx: Any, formatter: Any) -> None:  # Typer's versions differ in whose Context this is
        """Write one section per panel."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                kind = "Arguments" if parameter.param_type_name == "argument" else "Other"
                panel = getattr(parameter, "rich_help_panel", None) or kind
                names, text = record
                sections.setdefault(panel, []).append((names.partition(" <")[0], text))  # Typer may add " <str>"
        for name, records in sections.items():
            with formatter.section(name):
                formatter.write_dl(records)
