"""Destinations of a report: `--output FORMAT[:PATH]`, checked before the computation, written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from picsc.errors import SettingsError
from picsc.reports import AuditReports, Report

PICTURES = ("png", "svg")
"""Formats that `--plot` writes; the ending of the file chooses."""
PREDICTIONS = (".csv", ".parquet")
"""Endings of files of predictions."""
BASELINE = "baseline"
"""Format of the file that `--write-baseline` names."""
STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
"""Environment variable with the file that GitHub shows as the summary of a job."""
_OF_SUFFIX = {"md": "markdown", "xml": "junit", "txt": "table", "htm": "html"}
"""Formats by the ending of their files, where that is not their name."""


@dataclass(frozen=True, slots=True)
class Output:
    """One destination of a report, as one `--output` names it."""

    format: str
    """One of the formats of the command or of `PICTURES`, or `BASELINE`."""
    path: Path | None
    """The file to write; None writes to a stream."""
    to_stderr: bool = False
    """True if the stream is standard error, where GitHub reads annotations too; standard output keeps the report."""


def parse(texts: Sequence[str], report: type[Report] = AuditReports, *, option: str = "--output") -> tuple[Output, ...]:
    """The outputs asked for; the table goes to standard output unless another output is there.

    Annotations for GitHub without a path go to standard error, and another report may be on standard output.

    Args:
        texts: the text after every `--output`.
        report: the class of the report, whose formats are offered.
        option: the option or setting that gave them, for messages.

    Raises:
        SettingsError: an unknown format, an empty path, a path twice, or two outputs on standard output.
    """
    from picsc_cli.output.registry import formats_of  # loads rich, which `--help` must not pay for

    offered = formats_of(report)
    outputs = [_one(text, offered, option) for text in texts]
    on_stdout = [output.format for output in outputs if output.path is None and not output.to_stderr]
    if len(on_stdout) > 1:
        each = "both" if len(on_stdout) == 2 else "all"
        raise SettingsError(
            f"{option} {f' and {option} '.join(on_stdout)} {each} go to standard output: "
            f"give all but one a path, as in {option} {on_stdout[-1]}:FILE"
        )
    _refuse_twice(outputs, option)
    if sum(output.to_stderr for output in outputs) > 1:
        raise SettingsError(f"{option} github is given twice; give it once")
    return tuple(outputs) if on_stdout else (Output("table", None), *outputs)


def with_plot(outputs: tuple[Output, ...], plot: Path | None, report: type[Report]) -> tuple[Output, ...]:
    """The outputs and the picture, whose ending is its format.

    Args:
        outputs: as `parse` found them.
        plot: the path after `--plot`; None without a picture.
        report: the class of the report.

    Raises:
        SettingsError: the ending is another one, an output has the same path, or matplotlib is missing, which is said
            now rather than after the computation.
    """
    if plot is None:
        return outputs
    from picsc_cli.output.registry import drawn_by_matplotlib, pictures_of

    endings = [f".{name}" for name in pictures_of(report)]
    if not endings:
        raise SettingsError(f"--plot {plot}: a report of {report.schema} has no picture; leave --plot out")
    if plot.suffix.lower() not in endings:
        raise SettingsError(f"--plot {plot}: the file must end in {' or '.join(endings)}")
    if drawn_by_matplotlib(report, plot.suffix.lower()[1:]) and find_spec("matplotlib") is None:
        raise SettingsError(f"--plot {plot}: pictures need matplotlib: pip install 'picsc[plots]'")
    drawn = (*outputs, Output(plot.suffix.lower()[1:], plot))
    _refuse_twice(drawn, "--plot")
    return drawn


def with_baseline(outputs: tuple[Output, ...], path: Path | None) -> tuple[Output, ...]:
    """The outputs and the baseline, which is one more file of the report.

    Args:
        outputs: as `parse` found them.
        path: the path after `--write-baseline`; None without one.

    Raises:
        SettingsError: an output has the same path.
    """
    if path is None:
        return outputs
    written = (*outputs, Output(BASELINE, path))
    _refuse_twice(written, "--write-baseline")
    return written


def with_predictions(outputs: tuple[Output, ...], path: Path | None) -> tuple[Output, ...]:
    """The outputs and the file of predictions, for the check of paths.

    Args:
        outputs: as `parse` found them.
        path: the path after `--predictions`; None without one.

    Raises:
        SettingsError: an output has the same path, or the ending is none of a file of predictions.
    """
    if path is None:
        return outputs
    if path.suffix.lower() not in PREDICTIONS:
        raise SettingsError(f"--predictions {path}: the file must end in {' or '.join(PREDICTIONS)}")
    both = (*outputs, Output("predictions", path))
    _refuse_twice(both, "--predictions")
    return both


def _refuse_twice(outputs: Sequence[Output], option: str) -> None:
    paths = [output.path for output in outputs if output.path is not None]
    twice = sorted({str(path) for path in paths if paths.count(path) > 1})
    if twice:
        raise SettingsError(f"{option}: {', '.join(twice)} would be written twice; give each output its own path")


def _one(text: str, formats: Sequence[str], option: str) -> Output:
    name, colon, path = text.partition(":")
    if name not in formats:
        suffix = Path(text).suffix[1:]
        meant = _OF_SUFFIX.get(suffix, suffix)
        example = f"{meant}:{text}" if not colon and meant in formats else "json:FILE"
        raise SettingsError(f"{option} {text!r}: the format must be one of {', '.join(formats)}, as in {example}")
    if colon and not path:
        raise SettingsError(f"{option} {text!r}: a path must follow the colon, as in {name}:FILE")
    if not path and name == "github":
        return Output(name, None, to_stderr=True)
    return Output(name, Path(path) if path and path != "-" else None)


def check(outputs: Sequence[Output], *, read: Sequence[str | Path | None] = ()) -> None:
    """Find out before the computation whether every path can be written, leaving nothing behind.

    Args:
        outputs: those of the command.
        read: files that it reads, which no report may replace.

    Raises:
        SettingsError: one sentence that names the first path that cannot be written.
    """
    inputs = {os.path.realpath(path) for path in read if path is not None and str(path) != "-"}
    for path in (output.path for output in outputs if output.path is not None):
        if os.path.realpath(path) in inputs:
            raise SettingsError(f"cannot write {path}: it is read, and would be gone; give another file")
        _check_path(path, "")
    summary = step_summary(outputs)
    if summary is not None:
        _check_path(summary, f", which {STEP_SUMMARY} names")


def step_summary(outputs: Sequence[Output]) -> Path | None:
    """The summary of the job that annotations come with; None where there is none."""
    named = os.environ.get(STEP_SUMMARY)
    return Path(named) if named and any(output.format == "github" for output in outputs) else None


def _check_path(path: Path, named: str) -> None:
    try:
        if path.is_dir():
            raise SettingsError(f"cannot write {path}{named}: it is a folder; give a file in it")
        folder = path.absolute().parent
        if not folder.is_dir():
            why = f"{path.parent} is no folder" if folder.exists() else f"the folder {path.parent} does not exist"
            raise SettingsError(f"cannot write {path}{named}: {why}")
        _replace(path, None)
    except OSError as error:
        raise SettingsError(f"cannot write {path}{named}: {error.strerror or error}") from None


def write(contents: Mapping[Path, str | bytes]) -> None:
    """Write every text or picture to its path: each file is the old one or the whole new one, never half of it.

    Raises:
        SettingsError: a path cannot be written; the message says why.
    """
    for path, content in contents.items():
        try:
            _replace(path, content)
        except OSError as error:
            raise SettingsError(f"cannot write {path}: {error.strerror or error}") from None


def _replace(path: Path, content: str | bytes | None) -> None:
    """Write a temporary file next to the path, then rename it; None only tries whether that would work."""
    raw = content.encode("utf-8") if isinstance(content, str) else content
    if path.exists() and not path.is_file():  # a device or a named pipe, such as /dev/stderr: renaming would destroy it
        if raw is not None:
            path.write_bytes(raw)
        return
    target = path.resolve()  # a link to a report stays a link
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        part.write_bytes(raw or b"")
        if raw is not None:
            part.replace(target)
    finally:
        with suppress(FileNotFoundError):
            part.unlink()
