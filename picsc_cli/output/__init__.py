"""Where reports go, and which function writes them.

- `destinations`: where a report goes: `--output FORMAT[:PATH]`, checked before the computation, written whole or not at
  all
- `publish`: reports to their destinations
- `registry`: which function writes which report in which format
"""
