"""Readers of tables: one file a format."""
