from dataclasses import replace

import numpy as np
import pytest
import torch

from picsc.auditing.design import Piece
from picsc.auditing.model_tests import ModelShift
from picsc.auditing.null_statistics import ColumnTest
from picsc.auditing.two_questions import Question, ShiftTest
from picsc.auditing.verdict import Rule, verdicts


def one(value: float) -> np.ndarray:
    return np.array([value])


def question(p: float, effect: float, leader: str) -> Question:
    return Question(one(p), one(p), (leader,), one(effect), one(0.1))


def column(name: str, p: float, effect: float, test: str = "values") -> ColumnTest:
    return ColumnTest(name, test, one(effect), one(0.1), one(-np.log(p)), one(p))  # type: ignore[arg-type]


QUIET = ShiftTest(
    columns=(column("age", 0.6, 0.1), column("height", 0.5, 0.12)),
    target=column("sick", 0.9, 0.02, "target"),
    data=question(0.4, 0.12, "columns"),
    model=question(0.5, 0.1, "score"),
    fisher=ModelShift(*(torch.ones(1) for _ in range(5))),
    kl=one(0.2),
    missing_kl=one(0.0),
    tau=one(0.2),
    tau_quantile=one(0.4),
    domain_auc=one(0.51),
    smallest_effect=one(0.3),
    rows_drawn=100,
)
RULE = Rule(level=0.05, min_effect=0.05, gamma=None, kinds={"age": "numeric", "height": "numeric"})
MOVED = replace(QUIET, data=question(0.001, 0.4, "columns"), columns=(column("age", 0.001, 0.4), QUIET.columns[1]))
CARES = replace(QUIET, model=question(0.001, 0.4, "score"))


def verdict_of(test: ShiftTest, rule: Rule = RULE, rows: int = 100):
    return verdicts((Piece("fold 1", rows, 0),), test, rule, {("age", "values", 0): "no overlap with the reference"})[0]


@pytest.mark.parametrize(
    ("test", "verdict", "cell", "words"),
    [
        (QUIET, "ok", "neither", ""),
        (MOVED, "shift", "data only", "age moved, KS 0.40 (no overlap with the reference)"),
        (CARES, "shift", "model only", "labels or concept"),
        (replace(MOVED, model=CARES.model), "shift", "both", "the model cares (score)"),
        (
            replace(CARES, target=column("sick", 0.001, 0.3, "target")),
            "shift",
            "model only",
            "label shift: P(sick) differs by 0.30",
        ),
        (
            replace(QUIET, data=question(0.001, 0.4, "domain classifier"), domain_auc=one(0.7)),
            "shift",
            "data only",
            "a classifier tells the piece from its reference with AUC 0.70, no single column does",
        ),
        (replace(MOVED, data=question(0.001, 0.01, "columns")), "ok", "neither", "real but small: effect 0.01"),
        (replace(QUIET, smallest_effect=one(0.7)), "inconclusive", None, "only a KS distance above 0.70 would show"),
    ],
)
def test_cells(test: ShiftTest, verdict: str, cell: str | None, words: str) -> None:
    found = verdict_of(test)
    assert (found.verdict, found.cell) == (verdict, cell)
    assert words in found.reason


def test_too_few_rows_are_inconclusive_whatever_they_say() -> None:
    assert verdict_of(MOVED, rows=19).verdict == "inconclusive"
    assert verdict_of(MOVED, rows=20).verdict == "shift"


def test_raw_gamma_replaces_the_calibrated_verdict() -> None:
    assert verdict_of(MOVED, replace(RULE, gamma=0.3)).verdict == "ok"
    assert verdict_of(QUIET, replace(RULE, gamma=0.1)).verdict == "shift"


def test_a_piece_without_a_reference_has_a_reason_and_no_numbers() -> None:
    [found] = verdicts((Piece("batch 1", 50, None, "first piece: nothing before it"),), QUIET, RULE, {})
    assert (found.verdict, found.p_data, found.columns) == ("ok", None, ())
    assert found.reason == "first piece: nothing before it"


def test_columns_are_strongest_first_with_the_target_among_them() -> None:
    assert [each.name for each in verdict_of(MOVED).columns] == ["age", "height", "sick"]
    assert verdict_of(MOVED).columns[2].kind == "target"
