"""Exit codes, streams, signals and usage errors.

- `exits`: exit codes: 0 fine, 1 finding, 2 the user's input could not be used, 3 our bug, 130 and 143 interrupted
- `help`: `--help` without rich, whose import alone takes longer than all else it does, and words that are not
  understood
- `printable`: text as a stream can show it
- `signals`: asking a process to end (SIGTERM) is answered as Ctrl-C is: the work in hand is given up and a line says so
- `streams`: standard output and standard error: what they can show, and writing to them without a traceback
- `usage`: words on the command line that a command does not know: one sentence each, alike whatever Typer's version
"""
