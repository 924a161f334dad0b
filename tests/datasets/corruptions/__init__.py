"""Tests of picsc.datasets.corruptions."""
