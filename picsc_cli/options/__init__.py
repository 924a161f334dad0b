"""The options of commands."""
