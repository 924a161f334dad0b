"""Tables of very many columns: the scan that replaces counting, what is capped, and the memory it takes."""

import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import picsc
from picsc.auditing.exchangeability import Contrast
from picsc.auditing.ks_and_g_tests import code_numbers, count, shift
from picsc.auditing.null_statistics import SCANNED_COLUMNS
from picsc.auditing.table_view import COMBINATIONS, MOST_INPUTS, audit_table, too_wide
from picsc.auditing.wide_ks import ks_distances, sorted_scan, untied_distances
from picsc.datasets.load import from_frame
from picsc.settings import ReadSettings

REST = Contrast(4, (0, 1, 2, 3), "rest")
BEFORE = Contrast(4, (1, 2, 3), (0, 1, 2))


def labels(n: int) -> np.ndarray:
    """Draws whose pieces differ in size, too."""
    rng = np.random.default_rng(0)
    return np.stack([rng.permutation(np.arange(n) % 4), np.sort(rng.integers(0, 4, n)), rng.integers(0, 3, n)])


def values(n: int, kind: str) -> np.ndarray:
    rng = np.random.default_rng(1)
    x = rng.normal(size=n)
    gone = np.where(np.arange(n) < n // 4, np.nan, x)
    return {"plain": x, "ties": np.round(x), "missing": gone, "constant": np.zeros(n), "none": np.full(n, np.nan)}[kind]


@pytest.mark.parametrize("contrast", [REST, BEFORE])
@pytest.mark.parametrize("kind", ["plain", "ties", "missing", "constant", "none"])
@pytest.mark.parametrize("n", [40, 900])
def test_the_scan_gives_the_distances_that_counting_gives(n: int, kind: str, contrast: Contrast) -> None:
    """900 rows need integers of 32 bits; a piece without rows has no distance."""
    column = code_numbers("x", values(n, kind))
    plain = shift(column, count(column, labels(n), contrast), contrast)
    missing = column.t - 1 if column.has_missing else None
    distance, size, reference_size = ks_distances(column.codes, missing, sorted_scan(labels(n), contrast))
    np.testing.assert_allclose(distance, plain.effect, rtol=0, atol=1e-6)
    present = count(column, labels(n), contrast)[..., :-1].sum(-1).double()
    piece, reference = contrast.split(present)
    np.testing.assert_array_equal(size, piece)
    np.testing.assert_array_equal(reference_size, reference)


@pytest.mark.parametrize("contrast", [REST, BEFORE])
@pytest.mark.parametrize("n", [40, 900])
def test_columns_scanned_together_have_the_distances_of_each(n: int, contrast: Contrast) -> None:
    columns = [np.random.default_rng(j).permutation(n).astype(np.int16) for j in range(3)]
    together = untied_distances(columns, sorted_scan(labels(n), contrast))
    each = [ks_distances(codes, None, sorted_scan(labels(n), contrast))[0].numpy() for codes in columns]
    np.testing.assert_array_equal(together, np.stack(each))


def wide(columns: int, rows: int = 120) -> pd.DataFrame:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.normal(size=(rows, columns)), columns=[f"x{j}" for j in range(columns)])
    frame.iloc[::7, 0] = np.nan
    return frame.assign(target=np.arange(rows) % 2)


def test_one_column_more_or_less_changes_little_where_the_scan_begins() -> None:
    frame = wide(SCANNED_COLUMNS, rows=320)
    frame.loc[240:, "x5"] += 3
    reports = [
        picsc.audit(each, folds=4, draws=99, target="target", splitter="kfold")
        for each in (frame, frame.drop(columns="x9"))
    ]
    scanned, counted = (report.fragments[-1] for report in reports)
    assert scanned.columns[0].name == counted.columns[0].name == "x5"
    assert scanned.columns[0].statistic == pytest.approx(counted.columns[0].statistic, abs=1e-6)
    assert scanned.verdict == counted.verdict == "shift"


def test_the_model_of_a_wide_table_sees_combinations_and_the_report_says_so() -> None:
    frame = wide(MOST_INPUTS + 1)
    dataset = from_frame(frame, ReadSettings(target="target"))
    assert audit_table(dataset, seed=0).parameters < 5 * COMBINATIONS
    assert audit_table(dataset, seed=0).encoded.shape == (120, MOST_INPUTS + 2)
    (finding,) = too_wide(dataset)
    assert finding.code == "wide-table"
    assert "1,000 random combinations of the 2,002 encoded columns" in finding.message


def test_a_table_that_is_not_so_wide_is_seen_as_it_is() -> None:
    dataset = from_frame(wide(MOST_INPUTS - 1), ReadSettings(target="target"))
    assert audit_table(dataset, seed=0).parameters > 4 * MOST_INPUTS
    assert too_wide(dataset) == []


@pytest.mark.slow
def test_p34_twenty_thousand_columns_fit_into_two_gigabytes(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    wide(20_000, rows=200).to_csv(path, index=False)
    command = [sys.executable, "-m", "picsc_cli", "audit", str(path), "--folds", "5", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    assert peak < 2 * 2**30
