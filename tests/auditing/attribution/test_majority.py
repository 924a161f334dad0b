from typing import NamedTuple

import pytest

from picsc.auditing.attribution.majority import Compared, Pieces, SetTests, find_majority, joined
from picsc.reports.common import Verdict

CALLED, OVERWHELMING = 3.0, 10.0


class Report(NamedTuple):
    verdict: Verdict


def world(means: list[float], *, seen: list[Pieces] | None = None) -> tuple[Compared[Report], SetTests[Report]]:
    """Pieces whose evidence is the squared distance of their mean from that of their reference."""
    every = frozenset(range(len(means)))

    def compared(tested: Pieces, reference: Pieces) -> Compared[Report]:
        found = {}
        for k in tested:
            others = [means[j] for j in sorted(reference - {k})]
            found[k] = (means[k] - sum(others) / len(others)) ** 2
        return Compared({k: Report("shift" if e > CALLED else "ok") for k, e in found.items()}, found)

    def among(members: Pieces) -> Compared[Report]:
        if seen is not None:
            seen.append(members)
        return compared(members, members)

    return compared(every, every), SetTests(among, lambda members: compared(every - members, members))


@pytest.mark.parametrize(
    ("means", "members"),
    [
        ([0, 0, 9, 0, 0, 0], [0, 1, 3, 4, 5]),
        ([9, 0, 9, 0, 0], [1, 3, 4]),  # two that are alike are part of everybody's reference
        ([9, 0, -9, 0, 0], [1, 3, 4]),
        ([9, 4, 0, 0, 0, 0, 0, 0], [2, 3, 4, 5, 6, 7]),  # the second is seen once the first is gone
        ([5] * 8 + [0] * 12, list(range(8, 20))),
        ([0, 0.5, -0.5, 0.2, 40], [0, 1, 2, 3]),
    ],
)
def test_pieces_that_agree_are_a_majority(means: list[float], members: list[int]) -> None:
    found = find_majority(*world(means), overwhelming=OVERWHELMING)
    assert found is not None
    assert list(found.members) == members
    assert not found.inside.shifted()
    assert sorted(found.outside.shifted()) == [k for k in range(len(means)) if k not in members]


@pytest.mark.parametrize("means", [[0.0, 9.0], [0, 0, 9, 9], [0, 9, 18, 27], [0, 0, 9, 9, 18]])
def test_there_may_be_no_majority(means: list[float]) -> None:
    assert find_majority(*world(means), overwhelming=OVERWHELMING) is None


def test_a_piece_that_left_because_of_another_comes_back() -> None:
    """The first answer ranks piece 4, which is shifted, as the one that agrees best."""
    means = [0.0, 0.4, -0.4, 0.2, 6.0, -0.2]
    first, tests = world(means)
    misled = Compared(first.reports, {**first.evidence, 4: -1.0})
    reports = dict.fromkeys(range(6), Report("shift"))
    found = find_majority(Compared(reports, misled.evidence), tests, overwhelming=1e9)
    assert found is not None
    assert found.members == (0, 1, 2, 3, 5)


def test_the_piece_with_the_most_evidence_leaves_first() -> None:
    """Each of the others is called, too, since its reference has the one that is far away."""
    seen: list[Pieces] = []
    first, tests = world([0, 0, 0, 0, 12, 0], seen=seen)
    assert len(first.shifted()) == 6
    found = find_majority(first, tests, overwhelming=1e9)
    assert found is not None
    assert seen == [frozenset(range(6)), frozenset({0, 1, 2, 3, 5})]


def test_no_piece_joins_a_set_that_would_hold_a_refused_one() -> None:
    outside = Compared({2: Report("ok"), 3: Report("ok")}, {2: 1.0, 3: 2.0})
    assert joined(frozenset({0, 1}), outside, [frozenset({1, 3})], OVERWHELMING) == {0, 1, 2}
    assert joined(frozenset({0, 1}), outside, [], OVERWHELMING) == {0, 1, 2, 3}


def test_no_set_that_holds_a_refused_one_is_tried_again() -> None:
    seen: list[Pieces] = []
    assert find_majority(*world([0, 2.5, 5, 7.5, 10], seen=seen), overwhelming=1e9) is None
    for i, later in enumerate(seen):
        assert not any(earlier <= later for earlier in seen[:i])


def test_one_that_is_called_without_overwhelming_evidence_is_tested_with_the_others() -> None:
    """Among all pieces that agree, chance calls the one furthest out more often than the test of a few counts."""
    means = [0.0, 0.0, 0.1, 9.0, 1.8]
    first, tests = world(means)
    called = Compared(dict.fromkeys(range(5), Report("shift")), {**first.evidence, 3: 60.0, 4: 50.0})
    assert tests.against(frozenset({0, 1, 2})).reports[4].verdict == "shift"
    assert tests.among(frozenset({0, 1, 2, 4})).shifted() == [4]
    found = find_majority(called, tests, overwhelming=OVERWHELMING)
    assert found is not None
    assert found.members == (0, 1, 2)
    lenient = SetTests(lambda s: Compared({k: Report("ok") for k in s}, dict.fromkeys(s, 0.0)), tests.against)
    found = find_majority(called, lenient, overwhelming=OVERWHELMING)
    assert found is not None
    assert found.members == (0, 1, 2, 4)
