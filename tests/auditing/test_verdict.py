from dataclasses import replace

import numpy as np
import pytest
import torch

from picsc.auditing.design import Piece
from picsc.auditing.model_tests import ModelShift
from picsc.auditing.null_statistics import ColumnKl, ColumnTest
from picsc.auditing.two_questions import Question, ShiftTest, Statistic
from picsc.auditing.verdict import Known, Rule, verdicts
from picsc.reports.common import Interval
from picsc.reports.effects import ModelFit, SmallestEffects


def one(value: float) -> np.ndarray:
    return np.array([value])


DATA, MODEL = ("columns", "joint distribution", "covariate KL"), ("score", "Fisher gap", "Fisher KL", "target")


def question(p: float, effect: float, leader: str, **own: tuple[float, float]) -> Question:
    """A question whose leader has its p-value and effect; `own` has those of other statistics, _ for a space."""
    quiet = {name: Statistic(one(0.8), one(0.01)) for name in (DATA if leader in DATA else MODEL)}
    others = {name.replace("_", " "): Statistic(one(p), one(effect)) for name, (p, effect) in own.items()}
    statistics = {**quiet, leader: Statistic(one(p), one(effect)), **others}
    return Question(one(p), one(p), (leader,), one(effect), one(0.1), statistics)


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
RULE = Rule(level=0.05, smallest=SmallestEffects(), gamma=None, kinds={"age": "numeric", "height": "numeric"})
MOVED = replace(QUIET, data=question(0.001, 0.4, "columns"), columns=(column("age", 0.001, 0.4), QUIET.columns[1]))
CARES = replace(QUIET, model=question(0.001, 0.4, "score"))
SMALL = replace(QUIET, data=question(0.001, 0.03, "columns"), columns=(column("age", 0.002, 0.03), QUIET.columns[1]))
BY_KL = replace(
    QUIET,
    data=question(0.001, 0.9, "covariate KL"),
    columns=(
        replace(column("age", 0.4, 0.08), of_kl=ColumnKl(one(1.0), one(0.7), one(0.1))),
        replace(column("height", 0.65, 0.07), kl=one(253.0), of_kl=ColumnKl(one(9.0), one(0.003), one(1.0))),
    ),
)


def verdict_of(test: ShiftTest, rule: Rule = RULE, rows: int = 100):
    known = Known({("age", "values", 0): "no overlap with the reference"})
    return verdicts((Piece("fold 1", rows, 0),), test, rule, known)[0]


@pytest.mark.parametrize(
    ("test", "verdict", "cell", "words"),
    [
        (QUIET, "ok", "neither", ""),
        (MOVED, "shift", "data only", "age moved, KS 0.40, p 0.001 (no overlap with the reference)"),
        (
            BY_KL,
            "shift",
            "data only",
            "height moved in mean or spread, KL 253 nats, p 0.003, which its KS 0.07 does not",
        ),
        (CARES, "shift", "model only", "labels or concept"),
        (replace(MOVED, model=CARES.model), "shift", "both", "; the model cares (score, effect 0.40, p 0.001)"),
        (
            replace(CARES, target=column("sick", 0.001, 0.3, "target")),
            "shift",
            "model only",
            "label shift: P(sick) differs by 0.30, p 0.001",
        ),
        (
            replace(QUIET, data=question(0.001, 0.4, "joint distribution"), domain_auc=one(0.7)),
            "shift",
            "data only",
            "no single one moved: rows of the piece are told from its reference with AUC 0.70, p 0.001",
        ),
        (SMALL, "ok", "neither", "real but small, below --min-effect 0.05: age moved, KS 0.03, p 0.002"),
        (
            replace(SMALL, model=CARES.model),
            "shift",
            "model only",
            "; the covariates differ, too, but by less than --min-effect 0.05: age moved, KS 0.03, p 0.002",
        ),
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
    [found] = verdicts((Piece("batch 1", 50, None, "first piece: nothing before it"),), QUIET, RULE, Known())
    assert (found.verdict, found.p_data, found.columns) == ("not tested", None, ())
    assert found.reason == "first piece: nothing before it"


def test_columns_are_strongest_first_with_the_target_among_them() -> None:
    assert [each.name for each in verdict_of(MOVED).columns] == ["age", "height", "sick"]
    assert verdict_of(MOVED).columns[2].kind == "target"


def test_a_column_that_only_its_kl_shows_is_named_before_one_with_a_larger_distance() -> None:
    found = verdict_of(BY_KL)
    assert [each.name for each in found.moved(RULE.level)] == ["height"]
    assert found.columns[0].by_kl(RULE.level)
    assert found.columns[0].p(RULE.level) == 0.003
    assert found.columns[0].effect(RULE.level) == pytest.approx(1.0)


def test_a_kl_counts_only_where_the_covariate_kl_is_significant() -> None:
    found = verdict_of(replace(BY_KL, data=question(0.001, 0.4, "joint distribution")))
    assert found.moved(RULE.level) == ()
    assert {each.p_kl for each in found.columns} == {None}


def test_what_moved_enough_is_named_before_what_has_more_evidence() -> None:
    columns = (column("age", 0.0001, 0.04), column("height", 0.01, 0.1))
    found = verdict_of(replace(QUIET, data=question(0.001, 0.1, "columns"), columns=columns))
    assert found.verdict == "shift"
    assert found.reason == "height and 1 more moved, KS 0.10, p 0.01"


def test_the_target_is_no_covariate_that_moved() -> None:
    found = verdict_of(replace(CARES, target=column("sick", 0.001, 0.3, "target"), data=MOVED.data))
    assert "sick moved" not in found.reason
    assert found.moved(RULE.level) == ()


def test_a_small_effect_of_the_loudest_model_statistic_hides_no_larger_one() -> None:
    model = question(0.001, 0.4, "score", score=(0.001, 0.02), Fisher_gap=(0.01, 0.4))
    found = verdict_of(replace(QUIET, model=model))
    assert "(Fisher gap, effect 0.40, p 0.01)" in found.reason


def test_too_few_groups_are_inconclusive_unless_something_moved() -> None:
    rule = replace(RULE, lacking={0: "only 6 groups"})
    assert verdict_of(QUIET, rule).verdict == "inconclusive"
    assert verdict_of(QUIET, rule).reason == "only 6 groups"
    assert verdict_of(MOVED, rule).verdict == "shift"


def test_the_size_of_a_shift_is_that_of_its_own_question() -> None:
    found = verdict_of(replace(CARES, data=question(0.4, 0.9, "columns")))
    assert (found.cell, found.size) == ("model only", (0.0, 0.4))
    moved = verdict_of(replace(MOVED, model=question(0.4, 9.0, "score")))
    assert (moved.cell, moved.size) == ("data only", (0.4, 0.0))
    assert max(found, moved, key=lambda each: each.size) is moved


JOINT = replace(QUIET, data=question(0.001, 0.06, "joint distribution"), domain_auc=one(0.53))
RARE = replace(
    QUIET,
    data=question(0.001, 0.03, "columns"),
    columns=(column("age", 0.002, 0.03, "missing"), QUIET.columns[1]),
)
WEAK = replace(QUIET, model=question(0.001, 0.08, "score"))


@pytest.mark.parametrize(
    ("test", "smallest", "verdict", "words"),
    [
        (RARE, SmallestEffects(), "shift", "missing rate of age moved"),
        (RARE, SmallestEffects(missing=0.04), "ok", "below --min-effect-missing 0.04: missing rate of age moved"),
        (RARE, SmallestEffects(missing=0.05), "ok", "below --min-effect 0.05: missing rate of age moved"),
        (WEAK, SmallestEffects(), "ok", "below --min-effect-model 0.1: labels or concept"),
        (WEAK, SmallestEffects(model=0.05), "shift", "labels or concept"),
        (JOINT, SmallestEffects(), "shift", "AUC 0.53"),
        (JOINT, SmallestEffects(joint=0.1), "ok", "below --min-effect-joint 0.1: columns go together in another way"),
        (MOVED, SmallestEffects(distance=0.5), "ok", "below --min-effect 0.5: age moved"),
    ],
)
def test_every_kind_of_effect_has_its_own_bound(
    test: ShiftTest, smallest: SmallestEffects, verdict: str, words: str
) -> None:
    found = verdict_of(test, replace(RULE, smallest=smallest))
    assert found.verdict == verdict
    assert words in found.reason


def test_a_target_that_moved_with_the_covariates_is_no_proof_of_a_label_shift() -> None:
    followed = replace(CARES, target=column("sick", 0.001, 0.3, "target"), data=MOVED.data, columns=MOVED.columns)
    found = verdict_of(followed)
    assert found.cell == "both"
    assert "label shift" not in found.reason
    assert "P(sick) differs by 0.30, p 0.001; the covariates moved as well and may explain it" in found.reason


def test_a_label_shift_beside_a_small_shift_of_covariates_names_both() -> None:
    beside = replace(CARES, target=column("sick", 0.001, 0.3, "target"), data=SMALL.data, columns=SMALL.columns)
    found = verdict_of(beside)
    assert found.reason.startswith("label shift: P(sick) differs by 0.30")
    assert "the covariates differ, too, but by less than --min-effect 0.05: age moved, KS 0.03" in found.reason


def test_covariates_that_differ_a_little_do_not_agree() -> None:
    nearly = replace(
        CARES, data=question(0.001, 0.048, "columns"), columns=(column("age", 0.002, 0.048), QUIET.columns[1])
    )
    assert "the covariates agree" in verdict_of(CARES).reason
    assert "agree" not in verdict_of(nearly).reason
    assert "by less than --min-effect 0.05: age moved, KS 0.05" in verdict_of(nearly).reason


def test_the_size_and_the_fit_of_the_model_are_in_the_reason() -> None:
    sizes = {"mean_difference": 6.0, "mean_interval": Interval(4.8, 7.2), "effect_in_sd": 0.5,
             "interval": Interval(0.15, 0.25)}  # fmt: skip
    fit = ModelFit("accuracy", 0.84, 0.912, -0.072, Interval(-0.091, -0.053), 0.1, None)
    known = Known(sizes=lambda name, test, k: sizes, fits=(fit,))
    both = replace(MOVED, model=CARES.model, columns=(column("age", 0.001, 0.2), QUIET.columns[1]))
    [found] = verdicts((Piece("fold 1", 100, 0),), both, RULE, known)
    assert found.reason == (
        "mean of age 0.5 sd higher (KS 0.20 [0.15, 0.25]), p 0.001; the model cares (score, effect 0.40, p 0.001); "
        "the reference model is right in 84.0 % of this piece and in 91.2 % of the rest (-7.2 points [-9.1, -5.3])"
    )
    assert found.model_fit is fit
    assert found.columns[1].mean_difference is None  # height did not move
