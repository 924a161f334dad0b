from __future__ import annotations

import io
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

from picsc.errors import SettingsError
from picsc.notebooks.figures import plot
from picsc.reports.audit import AuditReport, AuditReports
from picsc.reports.distributions import ColumnDistribution, ColumnEffects, PieceCounts
from tests.factories.audit import audit_report, fragment
from tests.factories.compare import compare_report
from tests.factories.cv import cv_report
from tests.factories.fed import fed_audit_report, fed_report
from tests.factories.recipes import recipe_report
from tests.hostile import HOSTILE

matplotlib = pytest.importorskip("matplotlib")


def audits_report() -> AuditReports:
    return AuditReports((audit_report(), audit_report()), ())


DRAWN = (audit_report, audits_report, cv_report, compare_report, fed_report, fed_audit_report, recipe_report)


def drawn(figure: object) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, format="svg")  # type: ignore[attr-defined]
    return file.getvalue()


@pytest.mark.parametrize("made", DRAWN, ids=[made.__name__ for made in DRAWN])
def test_every_report_is_drawn(made: object) -> None:
    figure = made().plot()  # type: ignore[operator]
    assert isinstance(figure, matplotlib.figure.Figure)
    assert len(drawn(figure)) > 3_000


def test_the_map_of_effects_has_a_number_and_a_star() -> None:
    figure = audit_report().plot()
    assert "0.52*" in {text.get_text() for text in figure.axes[0].texts}


def test_distributions_are_shares_of_the_rows_with_a_value() -> None:
    figure = audit_report().plot_columns()
    reference, piece = figure.axes[0].patches
    assert list(piece.get_data().values) == pytest.approx([4 / 56, 10 / 56, 20 / 56, 22 / 56])
    assert list(reference.get_data().values) == pytest.approx([60 / 179, 70 / 179, 30 / 179, 19 / 179])
    assert "missing: 1.8 %, 0.0 % in the reference" in figure.axes[0].get_title()


def test_reports_without_effects_say_so() -> None:
    nothing = audit_report(fragment("fold 1"))
    for figure in (nothing.plot(), nothing.plot_columns()):
        assert "this report has no" in figure.texts[0].get_text()


@pytest.mark.filterwarnings("ignore:Glyph")  # the font lacks some letters, which are shown as boxes
def test_hostile_names_are_drawn_as_they_are() -> None:
    names = [*HOSTILE[:10], "$x$ and $\\frac{1}$", "a$b", "x" * 10_000]
    counts = tuple(PieceCounts(name, (1, 2), 0, (3, 4), 1) for name in names[:2])
    columns = tuple(ColumnDistribution(name, "categorical", (), (name, "b"), 0, counts) for name in names)
    report: AuditReport = replace(
        audit_report(*(fragment(name) for name in names)),
        distributions=columns,
        column_effects=tuple(ColumnEffects(name, "numeric", tuple(0.1 for _ in names)) for name in names),
    )
    drawn(report.plot())
    drawn(report.plot_columns())


def test_every_file_of_an_audit_has_its_map() -> None:
    titles = [axes.get_title() for axes in audits_report().plot().axes if axes.get_title()]
    assert len(titles) == 2


def test_a_report_without_a_figure_says_so() -> None:
    with pytest.raises(SettingsError, match=r"picsc\.data/1 has no figure"):
        plot(SimpleNamespace(schema="picsc.data/1"))


def test_without_matplotlib_a_sentence_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(SettingsError, match=r"figures need matplotlib: pip install 'picsc\[plots\]'"):
        audit_report().plot()
    with pytest.raises(SettingsError, match="figures need matplotlib"):
        audit_report().plot_columns()


def test_a_page_needs_no_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "<svg" in audit_report()._repr_html_()
