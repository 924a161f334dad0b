"""Tables in Markdown, and text from data that Markdown and HTML show as it is."""

from __future__ import annotations

from collections.abc import Sequence

from picsc_cli.console.printable import printable


def grid(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table."""
    return [_line(titles), _line(["---"] * len(titles)), *(_line(row) for row in rows)]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.strip() for cell in cells)} |"


def plain(text: str) -> str:
    """Text that Markdown and HTML show as it is."""
    shown = printable(text).replace("&", "&amp;").replace("<", "&lt;")
    return "".join(f"\\{char}" if char in "\\`*_[]|" else char for char in shown)


def versions(manifest: dict[str, object]) -> list[str]:
    """The paragraph of the versions that the numbers come from; no line where the manifest has none."""
    there = manifest.get("versions")
    if not isinstance(there, dict):
        return []
    return [f"Versions: {', '.join(f'{name} {version}' for name, version in there.items())}", ""]
