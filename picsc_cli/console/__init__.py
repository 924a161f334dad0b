"""Exit codes, streams, signals and usage errors."""
