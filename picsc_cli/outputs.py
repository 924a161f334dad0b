"""Where a report goes: `--output FORMAT[:PATH]`, checked before the computation, written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from picsc.errors import SettingsError
from picsc_cli.streams import write_stdout

if TYPE_CHECKING:
    from picsc_cli.renderers import Report

AUDIT_FORMATS = ("table", "json")
CV_FORMATS = (*AUDIT_FORMATS, "csv")
RECIPE_FORMATS = (*CV_FORMATS, "markdown")
FED_FORMATS = RECIPE_FORMATS
COMPARE_FORMATS = RECIPE_FORMATS
PLOT_FORMATS = ("svg", "html")


@dataclass(frozen=True, slots=True)
class Output:
    """One `--output`."""

    format: str
    """One of the formats of the command, or of `PLOT_FORMATS`."""
    path: Path | None
    """None is standard output."""


def parse(texts: Sequence[str], formats: Sequence[str] = AUDIT_FORMATS) -> tuple[Output, ...]:
    """The outputs asked for; the table goes to standard output unless another output is there.

    Args:
        texts: what follows every `--output`.
        formats: those of the command.

    Raises:
        SettingsError: an unknown format, an empty path, a path twice, or two outputs on standard output.
    """
    outputs = [_one(text, formats) for text in texts]
    on_stdout = [output.format for output in outputs if output.path is None]
    if len(on_stdout) > 1:
        raise SettingsError(
            f"--output {' and --output '.join(on_stdout)} both go to standard output: "
            f"give all but one a path, as in --output {on_stdout[-1]}:FILE"
        )
    _refuse_twice(outputs, "--output")
    return tuple(outputs) if on_stdout else (Output("table", None), *outputs)


def with_plot(outputs: tuple[Output, ...], plot: Path | None) -> tuple[Output, ...]:
    """The outputs and the picture, whose ending is its format.

    Args:
        outputs: as `parse` found them.
        plot: what follows `--plot`; None without a picture.

    Raises:
        SettingsError: the ending is another one, or an output has the same path.
    """
    if plot is None:
        return outputs
    if plot.suffix.lower() not in {f".{name}" for name in PLOT_FORMATS}:
        raise SettingsError(f"--plot {plot}: the file must end in .svg or .html")
    drawn = (*outputs, Output(plot.suffix.lower()[1:], plot))
    _refuse_twice(drawn, "--plot")
    return drawn


def _refuse_twice(outputs: Sequence[Output], option: str) -> None:
    paths = [output.path for output in outputs if output.path is not None]
    twice = sorted({str(path) for path in paths if paths.count(path) > 1})
    if twice:
        raise SettingsError(f"{option}: {', '.join(twice)} would be written twice; give each output its own path")


def _one(text: str, formats: Sequence[str]) -> Output:
    name, colon, path = text.partition(":")
    if name not in formats:
        raise SettingsError(f"--output {text!r}: the format must be one of {', '.join(formats)}, as in json:FILE")
    if colon and not path:
        raise SettingsError(f"--output {text!r}: a path must follow the colon")
    return Output(name, Path(path) if path and path != "-" else None)


def check(outputs: Sequence[Output]) -> None:
    """Find out before the computation whether every path can be written, leaving nothing behind.

    Raises:
        SettingsError: one sentence that names the first path that cannot be written.
    """
    for path in (output.path for output in outputs if output.path is not None):
        try:
            if path.is_dir():
                raise SettingsError(f"cannot write {path}: it is a folder; give a file in it")
            if not path.absolute().parent.is_dir():
                raise SettingsError(f"cannot write {path}: the folder {path.parent} does not exist")
            _replace(path, None)
        except OSError as error:
            raise SettingsError(f"cannot write {path}: {error.strerror or error}") from None


def publish(
    report: Report,
    outputs: Sequence[Output],
    *,
    verbose: bool = False,
    quiet: bool = False,
) -> None:
    """Write the files first, then standard output: a report that cannot be written whole leaves nothing behind.

    Args:
        report: what the verb found.
        outputs: where to, and how.
        verbose: tables also hold the columns as understood, and the settings.
        quiet: a table on standard output is the three lines of the summary alone.

    Raises:
        SettingsError: a path or standard output cannot be written to.
    """
    from picsc_cli import page
    from picsc_cli.renderers import as_text

    def text(output: Output) -> str:
        sheet = page.page_of_stdout() if output.path is None else page.Page()
        name = "summary" if output.format == "table" and quiet and output.path is None else output.format
        return as_text(report, name, sheet, verbose=verbose)

    texts = [(output.path, text(output)) for output in outputs]
    write({path: content for path, content in texts if path is not None})
    for path, content in texts:
        if path is None:
            write_stdout(content)


def write(texts: Mapping[Path, str]) -> None:
    """Write every text to its path: each file is the old one or the whole new one, never half of it.

    Raises:
        SettingsError: a path cannot be written; the message says why.
    """
    for path, text in texts.items():
        try:
            _replace(path, text)
        except OSError as error:
            raise SettingsError(f"cannot write {path}: {error.strerror or error}") from None


def _replace(path: Path, text: str | None) -> None:
    """Write a temporary file beside the path, then rename it; None only tries whether that would work."""
    if path.exists() and not path.is_file():  # a device or a named pipe, such as /dev/stderr: renaming would destroy it
        if text is not None:
            path.write_text(text, encoding="utf-8")
        return
    target = path.resolve()  # a link to a report stays a link
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        part.write_text(text or "", encoding="utf-8", newline="\n")
        if text is not None:
            part.replace(target)
    finally:
        with suppress(FileNotFoundError):
            part.unlink()
