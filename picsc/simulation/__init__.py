"""Shifts made on purpose."""
