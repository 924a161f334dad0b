"""Writing a report to its destinations: files, streams, and the summary of a job on GitHub."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from picsc.errors import SettingsError
from picsc_cli.console.streams import write_stderr, write_stdout
from picsc_cli.gates import FailOn, Gate
from picsc_cli.output.destinations import STEP_SUMMARY, Output, step_summary, write

if TYPE_CHECKING:
    from picsc.reports import Report


LONGEST_SUMMARY = 2**20
"""Bytes of one step's summary that GitHub accepts at most."""


def publish(
    report: Report,
    outputs: Sequence[Output],
    *,
    verbose: bool = False,
    quiet: bool = False,
    fail_on: FailOn = FailOn.SHIFT,
    gate: Gate | None = None,
) -> None:
    """Write the files first, then the streams: a report that cannot be written whole leaves nothing behind.

    Args:
        report: the result of the verb.
        outputs: the destinations and their formats.
        verbose: tables also hold the columns as understood, and the settings.
        quiet: a table on standard output is the summary alone.
        fail_on: the mildest verdict that an audit's formats for pipelines call a failure.
        gate: the conditions that a comparison must meet; None for none.

    Raises:
        SettingsError: a path or standard output cannot be written to.
    """
    from picsc_cli.output.registry import as_picture, as_text, drawn_by_matplotlib
    from picsc_cli.text import page

    def content(output: Output) -> str | bytes:
        if output.path is not None and drawn_by_matplotlib(type(report), output.format):
            return as_picture(report, output.format)
        sheet = page.page_of_stdout() if output.path is None else page.Page()
        name = "summary" if output.format == "table" and quiet and output.path is None else output.format
        return as_text(report, name, sheet, verbose=verbose, fail_on=fail_on, gate=gate)

    written = [(output, content(output)) for output in outputs]
    summary = step_summary(outputs)
    markdown = as_text(report, "markdown", page.Page()) if summary is not None else ""
    write({output.path: each for output, each in written if output.path is not None})
    if summary is not None:
        _append_summary(summary, markdown)
    for output, each in written:
        if output.path is None and isinstance(each, str):
            (write_stderr if output.to_stderr else write_stdout)(each)


def _append_summary(path: Path, markdown: str) -> None:
    """Add to the job's summary, which the steps before have begun; what GitHub would refuse whole is cut.

    Raises:
        SettingsError: the file cannot be written.
    """
    try:
        begun = path.stat().st_size if path.exists() else 0
        with path.open("ab") as file:
            file.write(shortened(markdown, LONGEST_SUMMARY - begun).encode("utf-8"))
    except OSError as error:
        raise SettingsError(f"cannot write {path}, which {STEP_SUMMARY} names: {error.strerror or error}") from None


def shortened(markdown: str, room: int) -> str:
    """Text of at most `room` bytes, in whole lines and with a sentence where it was cut; empty when even that is more.

    Args:
        markdown: the whole text.
        room: bytes in UTF-8.
    """
    if len(markdown.encode("utf-8")) <= room:
        return markdown
    sentence = "\n\nThe rest is left out: GitHub shows 1 MiB at most; `--output json:FILE` has all of it.\n"
    kept = markdown.encode("utf-8")[: max(0, room - len(sentence))].decode("utf-8", "ignore")
    whole = kept[: kept.rfind("\n") + 1]
    return whole.rstrip("\n") + sentence if whole else sentence if room >= len(sentence) else ""
