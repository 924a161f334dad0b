"""Reports as tables for people."""
