"""A plugin for pytest: the fixture `picsc_audit` fails a test where the data have shifted.

pytest loads it in every environment that has picsc, so nothing heavy is imported before a test asks for the fixture.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from picsc.reports.audit import AuditReport

_OPTION = "--picsc-write-baselines"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that accepts the shifts of today."""
    group = parser.getgroup("picsc", "picsc: covariate shift")
    group.addoption(_OPTION, action="store_true", help="Write the baselines that tests with picsc_audit name, anew.")


class Audits:
    """The audits of one test."""

    def __init__(self, test: str, folder: Path, *, write: bool) -> None:
        """Begin without any.

        Args:
            test: name of the test, under which baselines keep data that have no file.
            folder: that relative paths of baselines start from.
            write: baselines are written instead of read.
        """
        self._test, self._folder, self._write = test, folder, write
        self._written: dict[Path, list[AuditReport]] = {}

    def __call__(
        self, data: Any, y: Any = None, *, name: str | None = None, baseline: str | Path | None = None, **settings: Any
    ) -> AuditReport:
        """Audit data, and fail the test where a piece is shifted.

        Args:
            data: as `picsc.audit` takes them.
            y: labels, likewise.
            name: of data that have no file, in baselines and messages; None is that of the test.
            baseline: file of the shifts that are known, relative to the test's file; `pytest --picsc-write-baselines`
                writes it. None accepts no shift.
            settings: of `picsc.audit`.

        Returns:
            The report, where nothing is shifted that the baseline does not know.

        Raises:
            PicscError: the data, the settings or the baseline cannot be used.
        """
        __tracebackhide__ = True
        import picsc
        from picsc.auditing.baseline import compare_with_baseline, read_baseline

        report = picsc.audit(data, y, **settings)
        if report.data.reading is None:
            report = replace(report, data=replace(report.data, name=name or self._test, source=name or self._test))
        if baseline is not None:
            path = self._folder / baseline
            if self._write:
                self._written.setdefault(path, []).append(report)
                return report
            report = compare_with_baseline(report, read_baseline(path))
        if report.failing:
            pieces = [f"  {piece.name}: {piece.reason}" for piece in report.failing]
            pytest.fail("\n".join([f"picsc, {report.data.name}:", *report.summary, *pieces]), pytrace=False)
        return report

    def write(self) -> None:
        """Write the baselines of this test, each under its name as a whole."""
        from picsc.auditing.baseline import baseline_text
        from picsc.runtime.whole_files import written_whole

        for path, reports in self._written.items():
            with written_whole(path) as part:
                part.write_text(baseline_text(reports), encoding="utf-8", newline="\n")


@pytest.fixture
def picsc_audit(request: pytest.FixtureRequest) -> Iterator[Audits]:
    """A function like `picsc.audit` that fails the test where a piece is shifted: `picsc_audit(frame, folds=5)`."""
    audits = Audits(request.node.name, request.path.parent, write=request.config.getoption(_OPTION))
    yield audits
    audits.write()
