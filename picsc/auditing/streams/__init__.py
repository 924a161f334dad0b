"""Streams: rows that depend on their neighbours, and move together under the null.

- `choice`: the length of the blocks, chosen by the dependence within pieces or given by the user, with its finding
- `runs`: blocks as runs of consecutive rows, or of consecutive times, within a piece
"""
