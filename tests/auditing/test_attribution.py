from dataclasses import replace
from functools import partial

import pytest

from picsc.auditing.attribution import effects_of_pieces, set_shifted_aside
from picsc.reports.audit import FragmentReport
from tests.factories.audit import column_shift, fragment


def piece(name: str, effect: float) -> FragmentReport:
    """Shifted if its effect is above 0.05, on the data question alone."""
    verdict = "shift" if effect > 0.05 else "ok"
    return replace(fragment(name), verdict=verdict, cell="data only", effect_data=effect, effect_model=0.0)  # type: ignore[arg-type]


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
    reports, found = set_shifted_aside(*world(shifts), partial(effects_of_pieces, level=0.05))
    assert found == aside
    assert set(shifted) <= {k for k, report in enumerate(reports) if report.verdict == "shift"}
    assert len(reports) == len(shifts)


def test_pieces_that_agree_among_themselves_are_cleared() -> None:
    reports, _ = set_shifted_aside(*world([0, 0, 1, 0, 0, 0]), partial(effects_of_pieces, level=0.05))
    assert [report.verdict for report in reports] == ["ok", "ok", "shift", "ok", "ok", "ok"]


def test_where_the_kl_alone_speaks_the_largest_kl_is_set_aside() -> None:
    """As a distance, a KL of 2 nats and one of 200 are both near 1."""
    by_kl = column_shift("x", 0.08, 0.6, kl=2.0, p_kl=0.001)
    lacking = [replace(piece(str(k), 0.8), kl=2.0, columns=(by_kl,)) for k in range(4)]
    far = replace(piece("4", 1.0), kl=200.0, columns=(replace(by_kl, kl=200.0),))
    data, model = effects_of_pieces([*lacking, far], range(5), level=0.05)
    assert (data[0], data[4]) == (2.0, 200.0)
    assert model == {}
    by_test = replace(lacking[0], columns=(column_shift("x", 0.4, 0.001),))
    assert effects_of_pieces([by_test], [0], level=0.05)[0] == {0: 0.8}
