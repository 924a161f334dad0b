"""The command line: parse, build settings, call one library function, render, exit. No statistic is computed here."""
