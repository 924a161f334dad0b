"""The options of commands.

- `bind`: settings as options: the generated rows become parameters that Typer reads
- `common`: the options of several commands that are no settings, and contradictions among options
- `compare`: the options of `picsc compare` alone that are no settings
- `completion`: completion of option values in shells
- `fed`: the options of `picsc fed` alone that are no settings
- `generated`: the options that are settings, one row each, written by `python -m picsc.settings.generate`
- `rows`: one option as plain values
"""
