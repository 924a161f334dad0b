"""Test pieces, judge them, and set culprits aside: what every audit does once it knows what is compared with what.

Letters: n rows, K pieces.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from picsc.auditing import design
from picsc.auditing.attribution import attributed, effects_of_pieces
from picsc.auditing.column_notes import column_notes
from picsc.auditing.exchangeability import Contrast, Ints, PermutationScheme
from picsc.auditing.two_questions import shift_test
from picsc.auditing.verdict import Piece, Rule, verdicts
from picsc.datasets.rows import take
from picsc.runtime.threads import one_thread

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from picsc.auditing.null_statistics import TestInputs
    from picsc.datasets.table import Dataset
    from picsc.reports.common import FragmentReport
    from picsc.settings import AuditSettings


class Judged(NamedTuple):
    """What the tests say."""

    fragments: tuple[FragmentReport, ...]
    """In the order of the pieces."""
    drawn: int
    """Rows that the null permuted."""
    aside: tuple[int, ...]
    """Positions of pieces that are no part of the others' reference."""
    mean_kl: NDArray[np.float64] | None
    """(B + 1,) see `picsc.auditing.two_questions.ShiftTest`; of all pieces, none set aside."""


def run_piece_tests(
    dataset: Dataset,
    table: Callable[[Dataset], TestInputs],
    labels: Ints,
    contrast: Contrast,
    exchange: PermutationScheme,
    pieces: tuple[Piece, ...],
    settings: AuditSettings,
    *,
    tell: Callable[[str], None] = lambda _: None,
) -> Judged:
    """Test every piece against its reference and judge; set culprits aside where pieces are compared with the rest.

    Args:
        dataset: n rows, each with a label.
        table: what the tests see of some of these rows.
        labels: (n,) label of each row; those of pieces are 0 to K - 1.
        contrast: which labels are pieces, and what each is compared with.
        exchange: what may change places under the null.
        pieces: in the order of the report.
        settings: level, draws, seed, jobs, smallest effect and raw threshold.
        tell: told what is being done, a few words at a time.
    """
    with one_thread():
        judged, drawn, mean_kl = _judged(dataset, table, labels, contrast, exchange, pieces, settings, tell)
        if contrast.reference != "rest" or settings.gamma is not None:
            return Judged(judged, drawn, (), mean_kl)

        def among(kept: tuple[int, ...]) -> tuple[FragmentReport, ...]:
            rows, some = design.among(labels, kept)
            alone = tuple(replace(pieces[k], judged=i) for i, k in enumerate(kept))
            fewer = Contrast(len(kept), tuple(range(len(kept))), "rest")
            return _judged(take(dataset, rows), table, some, fewer, exchange.among(rows), alone, settings, tell)[0]

        judged, aside = attributed(judged, among, effects_of_pieces)
    return Judged(judged, drawn, aside, mean_kl)


def _judged(
    dataset: Dataset,
    table: Callable[[Dataset], TestInputs],
    labels: Ints,
    contrast: Contrast,
    exchange: PermutationScheme,
    pieces: tuple[Piece, ...],
    settings: AuditSettings,
    tell: Callable[[str], None],
) -> tuple[tuple[FragmentReport, ...], int, NDArray[np.float64] | None]:
    """Test every piece of these rows, and judge; also the number of rows drawn and the mean column KL."""
    seen = table(dataset)
    tell(f"testing {len(contrast.pieces)} pieces")
    test = shift_test(
        seen,
        labels,
        contrast,
        exchange,
        level=settings.level,
        draws=settings.draws,
        seed=settings.seed,
        jobs=settings.jobs,
    )
    kinds: dict[str, str] = {column.name: column.kind for column in dataset.columns}
    rule = Rule(settings.level, settings.min_effect, settings.gamma, kinds)
    return verdicts(pieces, test, rule, column_notes(dataset, labels, contrast)), test.rows_drawn, test.mean_kl
