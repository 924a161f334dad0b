"""Metrics, their means and paired tests."""
