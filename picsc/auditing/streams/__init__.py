"""Streams: rows that depend on their neighbours, and move together under the null.

- `choice`: the length of the blocks, chosen by the dependence within pieces or given by the user, with its finding
- `drift`: the verdict and the words of columns that move steadily over the batches
- `runs`: blocks as runs of consecutive rows, or of consecutive times, within a piece
- `trend`: the test of columns that move little from each batch to the next, and far over all of them
"""
