from __future__ import annotations

import pytest

from picsc.reports.pages.markup import cut, xml, xml_document
from tests.hostile import HOSTILE, check_xml


@pytest.mark.parametrize("name", HOSTILE)
def test_text_is_a_document_of_its_own(name: str) -> None:
    check_xml(xml_document(f"<a>\n{xml(name)}</a>"))


def test_names_are_cut_and_what_cannot_be_seen_is_shown() -> None:
    assert cut("abc", 3) == "abc"
    assert cut("abcd", 3) == "ab…"
    assert cut("\u202eabc", 20) == "\\u202eabc"
    assert len(cut("x" * 10_000, 60)) == 60
