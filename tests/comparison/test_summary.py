"""The sentences of a comparison: which p-value they follow."""

from __future__ import annotations

from dataclasses import replace

import pytest

from picsc.comparison.summary import summary_lines
from picsc.evaluation.holm import with_holm
from picsc.reports.common import Difference
from picsc.settings import CompareSettings
from tests.factories.compare import compare_method


@pytest.mark.parametrize(("p", "better"), [(0.02, False), (0.01, True)])
def test_the_best_of_several_methods_is_better_only_by_holms_p(p: float, better: bool) -> None:
    names = ("picsc", "iw", "kmm")
    base = with_holm([Difference(name, -0.05, None, p if name == "iw" else 0.9, 0.0, 0.9) for name in names])
    methods = (
        replace(compare_method("st-cv", (0.8,)), differences=base),
        *(
            replace(
                compare_method(name, (0.85,)),
                differences=with_holm(
                    [
                        Difference("st-cv", 0.05, None, p if name == "iw" else 0.9, 0.0, 0.9),
                        Difference("iw", 0.0, None, 0.4, 0.0, 0.9),
                    ]
                ),
            )
            for name in names
        ),
    )
    first, second, third = summary_lines(methods, (), CompareSettings(), "accuracy", None)
    assert "(p 0.9)" in first
    assert second.endswith("(p 0.4, Holm 0.8) against it")
    assert third.startswith("next: iw is better than st-cv beyond chance, also as one of 3 tested") is better
