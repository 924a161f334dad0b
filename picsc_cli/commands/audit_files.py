"""The audits of one call: one file gives its report, several give all that could be made, with one reference."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from picsc.errors import FewRowsError, PicscError, SettingsError
from picsc_cli.console import streams

if TYPE_CHECKING:
    from picsc.datasets.data import Data
    from picsc.datasets.table import Dataset
    from picsc.reports.audit import AuditReport, AuditReports
    from picsc.settings import AuditSettings, ReadSettings

Progress = Callable[[str], None] | None

_Auditor = Callable[[str, bool, Progress], "AuditReport"]
"""From a path or, if that is true, the name of a data set to its report."""
STDIN = "-"


def each_once(files: Sequence[str], what: str = "DATA") -> tuple[str, ...]:
    """The files as they were given.

    Args:
        files: paths.
        what: the command calls them.

    Raises:
        SettingsError: one is given twice, which would count it twice.
    """
    paths = [os.path.abspath(file) for file in files]  # noqa: PTH100 - a link stays what it is called
    twice = sorted({file for file, path in zip(files, paths, strict=True) if paths.count(path) > 1})
    if twice:
        raise SettingsError(f"{what} {', '.join(twice)}: the same file is given more than once; give each file once")
    return tuple(files)


def audited(
    files: Sequence[str],
    name: str | None,
    data_dir: Path | None,
    settings: AuditSettings,
    baseline: Path | None,
    *,
    quiet: bool,
) -> AuditReport | AuditReports:
    """Load every table and audit it with the same settings, seed, reference and baseline.

    Args:
        files: paths; `-` is standard input.
        name: of a data set instead.
        data_dir: folder of data sets by name.
        settings: of every audit.
        baseline: file with the shifts that are known.
        quiet: show no progress.

    Returns:
        The report of one table; or the reports of several, and a sentence for each file that has fewer rows than
        `read.min_table_rows` or cannot be used; the latter is also written to standard error.

    Raises:
        PicscError: the reference, the baseline, or the only table, cannot be used.
    """
    with streams.progress(quiet=quiet) as progress:
        one = _auditor(files, settings, data_dir, baseline)
        if name is not None:
            return one(name, True, progress)
        if len(files) == 1:
            try:
                return one(files[0], False, progress)
            except FewRowsError as few:
                return _all_skipped(files[0], few)
        return _several(files, one, progress)


def _several(files: Sequence[str], one: _Auditor, progress: Progress) -> AuditReports:
    from picsc.reports.audit import AuditReports, Unaudited

    reports: list[AuditReport] = []
    unaudited: list[Unaudited] = []
    skipped: list[Unaudited] = []
    for i, file in enumerate(files):
        name = "standard input" if file == STDIN else file
        try:
            reports.append(one(file, False, _about(f"{name} ({i + 1} of {len(files)})", progress)))
        except FewRowsError as few:
            skipped.append(Unaudited(name, str(few)))
        except PicscError as error:  # the others still count; anything else is a bug and ends all of them
            from picsc_cli.text.audit_words import not_audited  # loads rich, which --help does not need

            unaudited.append(Unaudited(name, str(error)))
            streams.warn(not_audited(unaudited[-1]))
    return AuditReports(tuple(reports), tuple(unaudited), tuple(skipped))


def _all_skipped(file: str, few: FewRowsError) -> AuditReports:
    from picsc.reports.audit import AuditReports, Unaudited

    return AuditReports((), (), (Unaudited("standard input" if file == STDIN else file, str(few)),))


def _about(what: str, progress: Progress) -> Progress:
    """Progress that names what it is about."""
    if progress is None:
        return None
    progress(f"{what}: reading")
    return lambda line: progress(f"{what}: {line}")


def _auditor(files: Sequence[str], settings: AuditSettings, data_dir: Path | None, baseline: Path | None) -> _Auditor:
    """A function that audits one table, with the reference and the baseline read once."""
    reference_path = _reference_path(settings.reference)
    known = None
    if baseline is not None:
        from picsc.auditing.baseline import compare_with_baseline, read_baseline

        known = read_baseline(baseline)
    from picsc.datasets.files.libsvm import libsvm_choices
    from picsc.datasets.files.many import may_be_parts
    from picsc.datasets.open import open_source
    from picsc.datasets.reference_file import load_reference, opened_alike

    together = [*files, *([] if reference_path is None else [reference_path])]
    there = [file for file in together if file == STDIN or os.path.isfile(file)]  # noqa: PTH113 - the others fail alone
    read = libsvm_choices(there, settings.read)
    reference = load_reference(reference_path, read) if reference_path is not None else None

    def one(source: str, named: bool, progress: Progress) -> AuditReport:
        if not named and reference_path is None and may_be_parts(source):
            from picsc.auditing.many_rows.audit_parts import audit_in_parts

            found = audit_in_parts(source, settings, progress or (lambda _: None))
            if found is not None:
                return found if known is None else compare_with_baseline(found, known)

        def opened(way: ReadSettings) -> tuple[Data, Dataset | None]:
            data = open_source(source, named=named, settings=way, keys=settings.keys, data_dir=data_dir)
            if reference_path is None or way is read:
                return data, reference
            return data, load_reference(reference_path, way)

        data, other = opened_alike(opened, read)
        from picsc.auditing.audit import (
            audit_dataset,  # loads torch, so after everything that may be wrong with the data
        )

        report = audit_dataset(data, settings, reference=other, progress=progress)
        return report if known is None else compare_with_baseline(report, known)

    return one


def _reference_path(reference: str | None) -> str | None:
    """The file, folder, pattern or web address that `--reference` names; None for one of its words.

    Raises:
        SettingsError: it is neither a word nor a file.
    """
    from picsc.settings import REFERENCES

    if reference is None or reference in REFERENCES:
        return None
    from picsc.datasets.files.many import is_many
    from picsc.datasets.files.web import is_address

    if not (is_address(reference) or is_many(reference) or os.path.isfile(reference)):  # noqa: PTH113 - any name
        raise SettingsError(
            f"--reference {reference}: there is no such file, and it is none of the words {', '.join(REFERENCES)}"
        )
    return reference
