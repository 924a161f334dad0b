"""Destinations of reports, and the writers of every format.

- `destinations`: `--output FORMAT[:PATH]`, checked before the computation, written whole or not at all
- `publish`: writing a report to its destinations
- `saved_model`: the model that `--save-model` asks for: checked beforehand, written after the report
- `registry`: one record per report with the function that writes each of its formats
"""
