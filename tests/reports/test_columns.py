"""Sizes of columns in words."""

import pytest

from picsc.reports.common import Interval
from tests.factories.audit import column_shift

KS = Interval(0.15, 0.25)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (
            column_shift(
                "x5", 0.2, interval=KS, mean_difference=-3.0, mean_interval=Interval(-4, -2), effect_in_sd=-0.5
            ),
            "mean of x5 0.5 sd lower (KS 0.20 [0.15, 0.25])",
        ),
        (
            column_shift(
                "when", 0.2, kind="datetime", mean_difference=9.0, mean_interval=Interval(1, 17), effect_in_sd=0.5
            ),
            "mean of when 0.5 sd later (KS 0.20)",
        ),
        (
            column_shift(
                "x5", 0.2, interval=KS, mean_difference=0.1, mean_interval=Interval(-0.1, 0.3), effect_in_sd=0.1,
                sd_ratio=1.8, sd_ratio_interval=Interval(1.6, 2.0),
            ),
            "spread of x5 1.8 times that of the reference (KS 0.20 [0.15, 0.25])",
        ),
        (
            column_shift(
                "x5", 0.3, interval=KS, mean_difference=0.1, mean_interval=Interval(-0.1, 0.3), effect_in_sd=0.1
            ),
            "x5 moved (KS 0.30 [0.15, 0.25])",
        ),
        (
            column_shift(
                "x5", 0.02, 0.9, kl=40.0, p_kl=0.001, mean_difference=90.0, mean_interval=Interval(1, 179),
                effect_in_sd=9.0,
            ),
            "mean of x5 9 sd higher (KL 40 nats, KS 0.02)",
        ),
        (
            column_shift(
                "plan", 0.04, kind="categorical", level="NEW", points=3.0, points_interval=Interval(2.1, 3.9),
                interval=Interval(0.03, 0.05),
            ),
            "plan: level NEW +3.0 points [2.1, 3.9] (TV 0.04 [0.03, 0.05])",
        ),
        (
            column_shift("b", 0.04, kind="missing", points=4.0, points_interval=Interval(2.9, 5.4), interval=KS),
            "missing rate of b +4.0 points [2.9, 5.4]",
        ),
    ],
)  # fmt: skip
def test_a_size_in_words(column, words: str) -> None:
    assert column.sized
    assert column.in_words(0.05) == words
