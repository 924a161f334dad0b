"""Row numbers of the pieces of one table, and what a person should know about a cut before trusting it.

- `autocorrelation`: whether neighbouring rows are alike, which makes p-values that take rows as exchangeable too small
- `clients`: invented clients as the pieces of an audit: the clients that `picsc fed` makes from the same rows and seed
- `cutting`: cut one table into pieces: folds, contiguous batches, one piece per value of a column, or pieces of time
- `dob_scv`: folds that agree in their covariates, and folds that do not: DOB-SCV and MS-SCV
- `duplicates`: rows that stand in more than one piece: what one piece teaches, the other already knows
- `holdout`: A random part of the rows
- `keys`: the values of a column that cuts a table: their codes, their order and their spelling
- `partitions`: invented clients: one table's rows dealt out the way federated benchmarks do, in bounded time
- `pieces`: what a cut is: pieces as row numbers, never a copy of rows, and what the null has to know about them
- `time_gap`: A gap between pieces of time: rows too soon after the piece before belong to no piece
- `time_lengths`: lengths of time as people write them: 30d, 12h, W, MS; plain numbers where time is a number
- `timeline`: pieces of time: intervals of equal length, or cut points that hold about equal numbers of rows. Ties stay
  together
- `validation`: what a person should know about a cut before trusting any number computed from it
"""

from picsc.fragments.clients import ClientCut, cut_clients
from picsc.fragments.cutting import cut
from picsc.fragments.partitions import Partition, partition
from picsc.fragments.pieces import Cut, Fragment
from picsc.fragments.validation import validate

__all__ = ["ClientCut", "Cut", "Fragment", "Partition", "cut", "cut_clients", "partition", "validate"]
