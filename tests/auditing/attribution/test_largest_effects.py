from collections.abc import Sequence
from dataclasses import replace

import pytest

from picsc.auditing.attribution.largest_effects import set_shifted_aside
from picsc.reports.audit import FragmentReport
from tests.factories.audit import fragment


def piece(name: str, effect: float) -> FragmentReport:
    """Shifted if its effect is above 0.05, on the data question alone."""
    verdict = "shift" if effect > 0.05 else "ok"
    return replace(fragment(name), verdict=verdict, cell="data only", effect_data=effect, effect_model=0.0)  # type: ignore[arg-type]


def effects(reports: Sequence[FragmentReport], shifted: Sequence[int]) -> tuple[dict[int, float]]:
    return ({k: reports[k].effect_data or 0.0 for k in shifted},)


def world(shifts: list[float]):
    """Pieces whose effect against the others is their distance from the others' mean."""

    def test(kept: tuple[int, ...]) -> tuple[FragmentReport, ...]:
        others = {k: [shifts[j] for j in kept if j != k] for k in kept}
        return tuple(piece(str(k), abs(shifts[k] - sum(others[k]) / len(others[k]))) for k in kept)

    return test(tuple(range(len(shifts)))), test


@pytest.mark.parametrize(
    ("shifts", "aside", "shifted"),
    [
        ([0, 0, 0, 0, 0, 0], (), []),
        ([0, 0, 0.2, 0, 0, 0, 0, 0, 0, 0], (), [2]),  # no other piece is shifted, so none is set aside
        ([0, 0, 1, 0, 0, 0], (2,), [2]),
        ([0, 5, 0, 0, 1, 0, 0, 0], (1, 4), [1, 4]),  # the second is seen once the first is gone
        ([0, 1], (), [0, 1]),
        ([1, 2, 3, 4], (), [0, 3]),  # no common distribution: the first answer stands
    ],
)
def test_shifted_pieces_are_set_aside(shifts: list[float], aside: tuple[int, ...], shifted: list[int]) -> None:
    reports, found = set_shifted_aside(*world(shifts), effects)
    assert found == aside
    assert set(shifted) <= {k for k, report in enumerate(reports) if report.verdict == "shift"}
    assert len(reports) == len(shifts)


def test_pieces_that_agree_among_themselves_are_cleared() -> None:
    reports, _ = set_shifted_aside(*world([0, 0, 1, 0, 0, 0]), effects)
    assert [report.verdict for report in reports] == ["ok", "ok", "shift", "ok", "ok", "ok"]


def test_of_two_pieces_neither_is_set_aside_however_large_its_effect() -> None:
    """Either may be the shifted one, and the other alone has nothing to be compared with."""
    first = (piece("0", 1.0), piece("1", 0.1))

    def alone(kept: tuple[int, ...]) -> tuple[FragmentReport, ...]:
        raise AssertionError(kept)

    assert set_shifted_aside(first, alone, effects) == (first, ())
