"""Figures as files: the same bytes for the same report, whatever style the user has set."""

from __future__ import annotations

import struct
import sys
from xml.etree import ElementTree as ET

import pytest

from picsc.errors import SettingsError
from picsc.notebooks.picture_files import picture
from tests.factories.audit import audit_report, fragment
from tests.factories.cv import cv_report
from tests.factories.recipes import recipe_report

matplotlib = pytest.importorskip("matplotlib")


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_the_same_report_is_the_same_bytes_under_any_style(kind: str) -> None:
    first = picture(recipe_report(), kind)  # type: ignore[arg-type]
    with matplotlib.rc_context({"font.size": 20, "svg.hashsalt": None, "axes.facecolor": "red"}):
        second = picture(recipe_report(), kind)  # type: ignore[arg-type]
        assert matplotlib.rcParams["font.size"] == 20  # the user's style is left as it was
    assert first == second


def test_svg_is_whole_and_says_no_date() -> None:
    content = picture(cv_report(), "svg")
    assert ET.fromstring(content).tag == "{http://www.w3.org/2000/svg}svg"  # noqa: S314 - our own picture
    assert b"<dc:date>" not in content


def test_png_is_wide_enough_for_a_page() -> None:
    content = picture(cv_report(), "png")
    assert content.startswith(b"\x89PNG")
    width, _ = struct.unpack(">II", content[16:24])
    assert width >= 1000


def test_letters_that_the_font_lacks_are_no_warning(recwarn: pytest.WarningsRecorder) -> None:
    picture(audit_report(fragment("数据")), "png")
    assert not [warning for warning in recwarn if "Glyph" in str(warning.message)]


def test_without_matplotlib_a_sentence_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(SettingsError, match="figures need matplotlib"):
        picture(cv_report(), "svg")
