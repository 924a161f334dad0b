"""Tables in which nothing is shifted, audited as users call the audit: for `benchmarks/audit_validity.py validity`.

Rows of a kind have one law, whatever piece or file they are in. Four normal columns, of which the first two make the
class, and what the kind adds to them:

- groups: 60 persons of 12 rows; a person's rows agree in every column as the intra-class correlation says. The folds
  are random whole persons
- reference: a file and a reference file, with a column of words whose frequencies follow Zipf's law
- rare event: a column that is 1 in one row of 1,000, in a table so long that the draws permute a part of it
- parquet in parts: words and a rare event in a file that is read in parts, with sizes a hundredth of those in use
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, NamedTuple
from unittest.mock import patch

import numpy as np
import pandas as pd

import picsc
from picsc.auditing import table_view
from picsc.auditing.many_rows import audit_parts
from picsc.datasets.files import many
from picsc.reports.audit import AuditReport

PERSONS, ROWS_EACH = 60, 12

SEEDS = (0.0, 0.5, 0.7, 1.0)
"""Shifts of the mean of one column in one of five pieces of 100 rows, in standard deviations, for `verdicts`."""


Draws = int | Literal["auto"]


class Innocent(NamedTuple):
    """A kind of table without a shift, and the call that audits it."""

    rows: int
    pieces: int
    audit: Callable[[np.random.Generator, Draws, int], AuditReport]
    """From numbers drawn at random, draws, and seed to a report."""


def classed(n: int, rng: np.random.Generator, person: np.ndarray | None = None, within: float = 0.0) -> pd.DataFrame:
    """Four normal columns and a class; a share `within` of every column's variance is the person's."""
    x = rng.normal(size=(n, 4))
    noise = rng.normal(size=n)
    if person is not None:
        own = rng.normal(size=(person.max() + 1, 5))
        both = np.sqrt(1 - within) * np.column_stack([x, noise]) + np.sqrt(within) * own[person]
        x, noise = both[:, :4], both[:, 4]
    frame = pd.DataFrame(x, columns=["x1", "x2", "x3", "x4"])
    return frame.assign(y=(x[:, 0] + x[:, 1] + 0.5 * noise > 0).astype(int))


def words(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """The columns of `classed`, and words by Zipf's law; the rarest ones are one word."""
    return classed(n, rng).assign(word=np.char.add("w", np.minimum(rng.zipf(1.5, n), 1000).astype(str)))


def groups(within: float) -> Innocent:
    def audited(rng: np.random.Generator, draws: Draws, seed: int) -> AuditReport:
        person = np.repeat(np.arange(PERSONS), ROWS_EACH)
        frame = classed(len(person), rng, person, within).assign(person=person)
        how = {"splitter": "group", "group": "person", "folds": 5, "shuffle": True}
        return picsc.audit(frame, target="y", draws=draws, seed=seed, jobs=1, **how)

    return Innocent(PERSONS * ROWS_EACH, 5, audited)


def with_reference(rows: int, others: int, pieces: int) -> Innocent:
    def audited(rng: np.random.Generator, draws: Draws, seed: int) -> AuditReport:
        how = {"folds": pieces, "shuffle": True} if pieces > 1 else {}
        data, reference = words(rows, rng), words(others, rng)
        return picsc.audit(data, target="y", reference=reference, draws=draws, seed=seed, jobs=1, **how)

    return Innocent(rows, pieces, audited)


def rare_event(rows: int, pieces: int) -> Innocent:
    def audited(rng: np.random.Generator, draws: Draws, seed: int) -> AuditReport:
        frame = classed(rows, rng).assign(event=(rng.random(rows) < 0.001).astype(int))
        return picsc.audit(frame, target="y", folds=pieces, shuffle=True, draws=draws, seed=seed, jobs=1)

    return Innocent(rows, pieces, audited)


def in_parts(rows: int, pieces: int) -> Innocent:
    """A parquet file of `rows`, of which the audit holds a seventh and permutes half of these, as of 1,400,000 rows."""

    def audited(rng: np.random.Generator, draws: Draws, seed: int) -> AuditReport:
        frame = words(rows, rng).assign(event=(rng.random(rows) < 0.001).astype(int))
        with ExitStack() as stack:
            folder = stack.enter_context(TemporaryDirectory())
            frame.to_parquet(Path(folder) / "t.parquet", index=False)
            for module, name, value in (
                (audit_parts, "ROWS_IN_MEMORY", rows // 2),
                (audit_parts, "SAMPLE", rows // 7),
                (table_view, "ROWS_PER_DRAW", rows // 14),
                (many, "LARGE", 1000),
            ):
                stack.enter_context(patch.object(module, name, value))
            report = picsc.audit(
                Path(folder) / "t.parquet", target="y", folds=pieces, splitter="kfold", draws=draws, seed=seed, jobs=1
            )
        assert any(finding.code == "read-in-parts" for finding in report.findings)  # noqa: S101 - else nothing is measured
        return report

    return Innocent(rows, pieces, audited)


INNOCENTS = {
    "groups, correlation 0.3": groups(0.3),
    "groups, correlation 0.7": groups(0.7),
    "groups, correlation 0.95": groups(0.95),
    "reference of 500 rows": with_reference(500, 500, 1),
    "5 pieces, reference of 200 rows": with_reference(1000, 200, 5),
    "reference of 1,000 rows": with_reference(200, 1000, 1),
    "rare event": rare_event(25_000, 5),
    "parquet in parts": in_parts(14_000, 5),
}


def smallest_p(name: str, repeat: int, draws: int, seed: int) -> float:
    """The smallest corrected p-value of any piece and question, in one table of this kind."""
    # numbers of their own: the audit draws from streams [seed, 1], [seed, 2], ..., which data must not depend on
    rng = np.random.default_rng([repeat, 1_000 + list(INNOCENTS).index(name)])
    report = INNOCENTS[name].audit(rng, draws or "auto", seed)
    found = [p for piece in report.fragments for p in (piece.p_data_adjusted, piece.p_model_adjusted)]
    return min((p for p in found if p is not None), default=1.0)


def verdicts(size: float, repeat: int, draws: int) -> list[str]:
    """The verdicts of six seeds on the same rows, in which the mean of one column of one piece moved by `size`.

    Zero draws is as many as an audit takes by default.
    """
    frame = classed(500, np.random.default_rng([repeat, round(100 * size), 9]))
    frame["piece"] = np.repeat(np.arange(5), 100)
    frame.loc[frame["piece"] == 1, "x2"] += size
    number = draws or "auto"
    return [picsc.audit(frame, target="y", by="piece", draws=number, seed=seed, jobs=1).verdict for seed in range(6)]
