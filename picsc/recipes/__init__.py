"""Experiments as YAML files."""
