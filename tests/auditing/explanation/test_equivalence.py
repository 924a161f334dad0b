"""`equivalence`: a piece is certified only where the data show it, and everything else is inconclusive, and fails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import picsc
from picsc.errors import SettingsError
from picsc.reports.audit import AuditReport
from picsc_cli.app import app


def table(rows: int, moved: float = 0.0) -> pd.DataFrame:
    """Five batches; the mean of `age` is higher in the last."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"age": rng.normal(size=rows), "site": rng.choice(["a", "b"], rows)})
    frame.loc[4 * rows // 5 :, "age"] += moved
    return frame


def audit(frame: pd.DataFrame, **settings: Any) -> AuditReport:
    return picsc.audit(frame, batches=5, reference="rest", block=1, draws=199, no_target=True, **settings)


def test_enough_rows_without_a_shift_are_certified() -> None:
    report = audit(table(10_000), equivalence=0.15)
    assert report.verdict == "equivalent"
    assert {piece.verdict for piece in report.fragments} == {"equivalent"}
    assert report.summary[0].startswith("equivalent: 5 of 5 pieces")
    assert report.fragments[0].reason.startswith("every column differs by less than 0.0")


def test_few_rows_are_not() -> None:
    report = audit(table(500), equivalence=0.15)
    assert report.verdict == "inconclusive"
    assert "equivalent" not in {piece.verdict for piece in report.fragments}
    assert "rows in the piece could show it" in report.fragments[0].reason


def test_a_shift_below_the_smallest_effect_is_no_certificate() -> None:
    """A difference that is real and larger than asked for is inconclusive where --min-effect lets it pass."""
    report = audit(table(5_000, moved=0.5), equivalence=0.1, min_effect=0.6)
    last = report.fragments[-1]
    assert (report.verdict, last.verdict) == ("inconclusive", "inconclusive")
    assert "it does so by 0." in last.reason
    assert "age may differ by up to" in last.reason


def test_a_shift_stays_one() -> None:
    assert audit(table(5_000, moved=0.8), equivalence=0.1).verdict == "shift"


def test_a_monitored_column_is_no_part_of_it() -> None:
    report = audit(table(10_000, moved=0.8), equivalence=0.15, monitor=["age"])
    assert report.verdict == "equivalent"


def test_the_exit_code(tmp_path: Path) -> None:
    """What is not shown fails, unless --fail-on says otherwise."""
    paths = {rows: tmp_path / f"{rows}.csv" for rows in (500, 10_000)}
    for rows, path in paths.items():
        table(rows).to_csv(path, index=False)
    settings = ["--batches", "5", "--reference", "rest", "--block", "1", "--draws", "199", "--no-target"]

    def code(rows: int, *more: str) -> int:
        arguments = ["audit", str(paths[rows]), *settings, "--equivalence", "0.15", "--quiet", *more]
        return CliRunner().invoke(app, arguments).exit_code

    assert (code(10_000), code(500), code(500, "--fail-on", "shift")) == (0, 1, 0)
    junit = tmp_path / "junit.xml"
    assert code(10_000, "--output", f"junit:{junit}") == 0
    assert 'failures="0"' in junit.read_text(encoding="utf-8")


def test_the_json_report_says_it() -> None:
    body = json.loads(json.dumps(audit(table(500), equivalence=0.15).as_dict()))
    assert (body["verdict"], body["settings"]["equivalence"]) == ("inconclusive", 0.15)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"equivalence": 0.1, "gamma": 0.1}, "raw threshold"),
        ({"equivalence": 0.0}, "greater than 0"),
        ({"equivalence": 0.1, "level": 0.01}, "must be at least 499"),
    ],
)
def test_what_does_not_go_together(settings: dict[str, float], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        audit(table(500), **settings)


def test_images_have_no_columns_to_certify() -> None:
    images = np.random.default_rng(0).random((60, 8, 8), dtype=np.float32)
    with pytest.raises(SettingsError, match="columns of a table"):
        picsc.audit(images, np.arange(60) % 2, batches=3, equivalence=0.1)
