"""Tests of pieces: the statistics of every piece against its reference, and the verdicts that follow from them.

Letters: n rows, K pieces, B draws.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from picsc.auditing.column_notes import column_notes
from picsc.auditing.design import MOST_DRAWN
from picsc.auditing.effects.column_bounds import tested_names
from picsc.auditing.effects.columns import column_sizes
from picsc.auditing.effects.model_fit import model_fits
from picsc.auditing.streams.drift import with_drift
from picsc.auditing.two_questions import ShiftTest, shift_test
from picsc.auditing.verdict import Known, Rule, verdicts
from picsc.datasets.rows import take
from picsc.runtime.threads import one_thread

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from picsc.auditing.design import Design
    from picsc.auditing.exchangeability import Ints
    from picsc.auditing.long_tables.whole_counts import WholeCounts
    from picsc.auditing.null_statistics import TestInputs
    from picsc.datasets.table import Dataset
    from picsc.reports.audit import FragmentReport
    from picsc.reports.common import Finding
    from picsc.settings import AuditSettings


MORE_DRAWS = 9999
"""Permutations where fewer leave a verdict in doubt."""
DOUBTFUL = 3
"""A verdict is in doubt where a p-value is within this factor of the level."""
MOST_REDRAWN = 200_000_000
"""Rows x columns x draws beyond which nothing is drawn anew; below, it takes seconds."""


@dataclass(frozen=True, slots=True)
class ComparedRows:
    """The rows that a design labels, and how the tests see them."""

    dataset: Dataset
    """n rows."""
    inputs: Callable[[Dataset], TestInputs]
    """From some of these rows to what the tests see of them."""
    own_units: bool = True
    """False if the tests see ranks within classes, so that differences in a column's own unit say nothing."""
    whole: Callable[[TestInputs, Dataset, Design], WholeCounts] | None = None
    """Counts the table of which these rows are a sample; None where they are the table."""

    def among(self, rows: Ints) -> ComparedRows:
        """The same for some of the rows, which are tested by themselves."""
        return replace(self, dataset=take(self.dataset, rows), whole=None)


@dataclass(frozen=True, slots=True)
class PieceTests:
    """The results of an audit's tests."""

    reports: tuple[FragmentReport, ...]
    """Verdict and statistics of each piece, in the order of the design."""
    rows_drawn: int
    """Rows that the null permuted: n, or fewer for a long table."""
    draws: int
    """B, permutations of the null."""
    mean_kl: NDArray[np.float64] | None
    """(B + 1,) mean column KL of all pieces, see `picsc.auditing.two_questions.ShiftTest`; None without columns."""
    set_aside: tuple[int, ...] = ()
    """Positions of shifted pieces that are no part of the others' reference, see `picsc.auditing.attribution`."""
    groups: tuple[tuple[int, ...], ...] = ()
    """Positions of pieces that agree with one another, group by group: of the pieces set aside, or of all where no
    more than half of them agree; () where there are none."""
    evidence: tuple[float, ...] = ()
    """Evidence of each piece against its reference, see `picsc.auditing.two_questions.ShiftTest`."""
    drift: tuple[Finding, ...] = ()
    """What moves steadily over all pieces."""
    too_few_units: bool = False
    """True if the groups or blocks that the null deals out are too few for a small p-value of some piece."""


def run_piece_tests(
    rows: ComparedRows, design: Design, settings: AuditSettings, progress: Callable[[str], None] = lambda _: None
) -> PieceTests:
    """Test every piece against its reference.

    Args:
        rows: n rows.
        design: design of these rows.
        settings: level, draws, seed, jobs, smallest effect and raw threshold.
        progress: called with a few words on each step.
    """
    with one_thread():
        inputs = rows.inputs(rows.dataset)
        whole = None if rows.whole is None else rows.whole(inputs, rows.dataset, design)
        progress(f"testing {len(design.contrast.pieces)} pieces")
        test, draws = _tested(inputs, design, settings, whole)
        kinds: dict[str, str] = {column.name: column.kind for column in rows.dataset.columns}
        lacking = design.too_few_units(settings.level)
        short = design.stream.too_short
        rule = Rule(
            settings.level,
            settings.smallest_among(tested_names(rows.dataset)),
            settings.gamma,
            kinds,
            lacking,
            design.reference,
            short,
            equivalence=settings.equivalence,
        )
        known = Known(
            column_notes(rows.dataset, design),
            column_sizes(rows.dataset, inputs, design, whole) if rows.own_units else None,
            model_fits(inputs.fit, design),
        )
        reports = verdicts(design.pieces, test, rule, known)
        reports, drift = with_drift(reports, test.trend, rule, rows.dataset)
    found = () if test.evidence is None else tuple(test.evidence.tolist())
    return PieceTests(
        reports, test.rows_drawn, draws, test.mean_kl, evidence=found, too_few_units=bool(lacking or short), drift=drift
    )


def _tested(
    inputs: TestInputs, design: Design, settings: AuditSettings, whole: WholeCounts | None
) -> tuple[ShiftTest, int]:
    """The test of every piece and its draws: more of them where the first leave a verdict in doubt.

    Reading: a p-value of 999 draws that combines many statistics is known to about a third of itself, so those within a
        factor of three of the level are drawn anew. The second answer counts whatever the first was: the error rate is
        that of the second draws, but for tables whose first p-value is wrong by more than that factor.
    """
    test = partial(
        shift_test,
        inputs,
        design,
        level=settings.level,
        seed=settings.seed,
        jobs=settings.jobs,
        certified=settings.equivalence is not None,
        whole=whole,
    )
    first = test(draws=settings.first_draws)
    pieces, cells = len(design.contrast.pieces), len(design.labels) * max(1, len(inputs.columns))
    small = cells * MORE_DRAWS <= MOST_REDRAWN and pieces * MORE_DRAWS <= MOST_DRAWN
    if settings.draws != "auto" or not small:
        return first, settings.first_draws
    p = first.p
    doubtful = (p > settings.level / DOUBTFUL) & (p < settings.level * DOUBTFUL)
    return (test(draws=MORE_DRAWS), MORE_DRAWS) if doubtful.any() else (first, settings.first_draws)
