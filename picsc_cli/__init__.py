"""The command line: parse, build settings, call one library function, render, exit. No statistic is computed here.

- `__main__`: `python -m picsc_cli` is `picsc`
- `app`: `picsc`: the commands, and the version
- `gates`: conditions on a report that fail a pipeline: verdicts of an audit, bounds and tests of a comparison
- `resolve`: settings of a command: flags over a recipe over `[tool.picsc]` of pyproject.toml over defaults
- `commands`: one file a command
- `console`: exit codes, streams, signals and usage errors
- `formats`: one module per report format for machines; each turns a report into text and reads nothing else
- `options`: the options of commands
- `output`: where reports go, and which function writes them
- `text`: text on a page: sections, sheets, words
"""
