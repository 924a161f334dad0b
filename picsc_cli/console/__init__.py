"""Exit codes, streams, signals and usage errors.

- `exits`: exit codes: 0 fine, 1 finding, 2 the user's input could not be used, 3 our bug, 130 and 143 interrupted
- `help`: `--help` without rich, and one sentence for words that a command does not know
- `printable`: text that a stream can show and a file can hold
- `safe`: text from outside made safe for what reads it: terminals, logs of pipelines, spreadsheets, Markdown, XML
  and JSON
- `signals`: SIGTERM handled as Ctrl-C is: the work is given up and a line reports it
- `streams`: standard output and standard error: their characters, and writing to them without a traceback
- `usage`: messages for words that a command does not know: one sentence each, the same for every version of Typer
"""
