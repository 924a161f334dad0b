"""`python -m picsc` is `picsc`, where the command line is installed beside the library, as it always is."""

from importlib import import_module

# by name: no module of the library imports the command line, and this one is a program
import_module("picsc_cli.app").main()
