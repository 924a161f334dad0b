"""Error rates of every paired test and coverage of every 95 % interval, by the simulations of the benchmark."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
from scipy.stats import binom

TABLES = 1000
SURE = 1e-3
"""Probability that a test of exactly 5 % fails here, for each design; the draws are fixed, so a run fails always or
never."""


def benchmark() -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks" / "paired_tests.py"
    spec = importlib.util.spec_from_file_location("paired_tests_benchmark", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


DESIGNS = dict(benchmark().designs(TABLES))


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in DESIGNS if name != "batches before"])
def test_no_more_than_5_percent_are_rejected_and_intervals_hold_the_truth(name: str) -> None:
    for found in DESIGNS[name]():
        most = binom.isf(SURE, found.tables, 0.05) / found.tables
        for missed in (found.rejected, *(None if held is None else 1 - held for held in (found.covered, found.own))):
            assert missed is None or missed <= most, (name, found)


@pytest.mark.slow
def test_without_the_correction_batches_break_the_level() -> None:
    for found in DESIGNS["batches before"]():
        assert found.rejected > 1.5 * binom.isf(SURE, found.tables, 0.05) / found.tables
