"""Fold balance: the lower tail of the random folds, and when a note is given."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

import picsc
from picsc.auditing.design import Design
from picsc.auditing.exchangeability import Contrast, PermutationScheme
from picsc.auditing.fold_balance import balance, more_balanced
from picsc.auditing.null_statistics import rows_of
from picsc.auditing.permutations import label_draws
from picsc.auditing.table_view import audit_table
from picsc.datasets.load import from_frame
from picsc.fragments import Cut, Fragment
from picsc.reports.audit import AuditReport, Balance
from picsc.settings import ReadSettings


def folds(kind: str = "fold") -> Cut:
    rows = np.arange(4)
    fragments = (Fragment(kind, "one", rows[:2]), Fragment(kind, "two", rows[2:]))  # type: ignore[arg-type]
    return Cut(fragments, "by hand", False, False, None, None, np.empty(0, np.int64))


def codes(report: AuditReport) -> dict[str, str]:
    return {finding.code: finding.message for finding in report.findings}


def test_the_lower_tail_counts_the_observed_one_and_ties() -> None:
    found = balance(folds(), np.array([0.3, 0.1, 0.3, 0.5, 0.9]), with_file=False)
    assert found == Balance(kl=0.3, expected=0.4, p_less=3 / 5)


def test_only_folds_against_one_another_have_a_balance() -> None:
    drawn = np.array([0.3, 0.1])
    assert balance(folds("batch"), drawn, with_file=False) is None
    assert balance(folds(), drawn, with_file=True) is None
    assert balance(folds(), None, with_file=False) is None


def test_a_note_is_given_at_the_level_and_not_above() -> None:
    [note] = more_balanced(Balance(0.0021, 0.015, 0.05), 0.05)
    assert (note.code, note.severity) == ("more-balanced", "note")
    assert note.message == (
        "the folds are more alike than random ones: mean column KL 0.0021 where random folds have 0.015 (p 0.05)"
    )
    assert more_balanced(Balance(0.0021, 0.015, 0.051), 0.05) == []
    assert more_balanced(None, 0.05) == []


def test_dob_scv_folds_are_more_than_balanced_and_ms_scv_folds_less() -> None:
    wine = load_wine(as_frame=True).frame
    reports = {name: picsc.audit(wine, folds=5, splitter=name, draws=199) for name in ("dob-scv", "ms-scv")}  # type: ignore[arg-type]
    alike, apart = (report.balance for report in reports.values())
    assert alike is not None
    assert apart is not None
    assert alike.kl < alike.expected < apart.kl
    assert alike.p_less <= 0.05
    assert apart.p_less == 1
    assert {"more-balanced", "conservative-null"} <= set(codes(reports["dob-scv"]))
    assert "more-balanced" not in codes(reports["ms-scv"])
    assert reports["dob-scv"].as_dict()["balance"] == {
        "kl": alike.kl, "expected": alike.expected, "p_less": alike.p_less,
    }  # fmt: skip


def test_the_mean_is_over_columns_and_pieces() -> None:
    rng = np.random.default_rng(0)  # pieces of the same rows, a little moved: no chance makes them differ
    frame = pd.DataFrame(np.tile(rng.normal(size=(50, 3)), (4, 1)), columns=list("abc"))
    frame += 0.1 * rng.normal(size=(200, 3))
    frame["d"] = np.tile(rng.integers(0, 3, 50), 4).astype(str)
    frame["y"] = np.tile(rng.integers(0, 2, 50), 4)
    report = picsc.audit(frame, target="y", folds=4, draws=99)
    assert report.verdict == "ok"  # so that no piece is set aside, and all are compared with the rest
    assert report.balance is not None
    pieces = [piece.kl for piece in report.fragments]
    assert report.balance.kl == pytest.approx(np.mean(pieces) / 4, rel=1e-9)  # type: ignore[arg-type]


def test_random_folds_are_called_more_alike_at_the_level() -> None:
    """300 tables at level 0.05: none, or more than 37, have probability 5e-7 if the draws are random folds."""
    notes, contrast = 0, Contrast(3, (0, 1, 2), "rest")
    for seed in range(300):
        values = np.random.default_rng(seed).normal(size=(60, 2))
        table = audit_table(from_frame(pd.DataFrame(values, columns=["a", "b"]), ReadSettings(no_target=True)), seed=0)
        null = label_draws(
            table.contributions,
            Design(np.arange(60) % 3, contrast, PermutationScheme()),
            rows=100,
            draws=99,
            seed=seed,
        )
        found = balance(folds(), rows_of(table, null).kl.mean(1).numpy() / 2, with_file=False)
        notes += len(more_balanced(found, 0.05))
    assert 1 <= notes <= 37
