"""The command line: parse, build settings, call one library function, write its report, exit. It computes nothing.

- `__main__`: `python -m picsc_cli`, which is `picsc`
- `app`: `picsc` with its commands and its version
- `gates`: conditions on a report that fail a pipeline: verdicts of an audit, bounds and tests of a comparison
- `resolve`: settings of a command: flags over a recipe over `[tool.picsc]` of pyproject.toml over defaults
- `commands`: the commands, one file each
- `console`: exit codes, streams, signals and usage errors
- `formats`: reports as text: one module or folder per format
- `options`: the options that commands share
- `output`: destinations of reports, and the writers of every format
- `text`: parts that formats share: numbers, words, sections and tables on a page
"""
