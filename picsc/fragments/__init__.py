"""Cuts of a table into pieces, as row numbers, and checks of a cut before any result is computed from it.

- `autocorrelation`: a check that neighbouring rows are independent, as p-values of permutation tests assume
- `block_length`: lengths of blocks for rows that depend on each other
- `clients`: simulated clients as the pieces of an audit, the same as `picsc fed` makes from the same rows and seed
- `coincidences`: equal rows that the columns' own values explain
- `cutting`: `cut`, which divides a table into folds, contiguous batches, values of a column, or intervals of time;
  `uncut`, all rows as one piece
- `dependence`: dependence of neighbouring rows: the integrated autocorrelation time of every column
- `dob_scv`: DOB-SCV and MS-SCV, which make folds with similar or with different covariate distributions
- `duplicates`: equal rows in several pieces, or in a table and its reference file, or with different labels
- `even_pieces`: pieces of nearly the wanted sizes, made of units that must stay whole
- `given_splits`: the pieces of splits that somebody else made: a splitter of scikit-learn, or pairs of row numbers
- `groups`: splits that keep the rows of one group together
- `holdout`: a random part of the rows, stratified by class where possible
- `keys`: the values of a column that cuts a table: their codes, order and spelling
- `latest`: the latest rows in time, set aside to test models that learn from the past alone
- `partitions`: simulated clients, who get the rows of a table in the ways of federated benchmarks
- `pieces`: `Cut` and `Fragment`: the row numbers of pieces, and facts about the cut that a permutation test needs
- `repeated_ids`: columns that may say whom a row is about, which are proposed as groups
- `row_order`: rows in the order that counts for a cut, the piece of each row, and rows of equal time
- `time_gap`: a gap between pieces of time, whose rows belong to no piece
- `time_lengths`: lengths of time as users write them: 30d, 12h, W, MS, or plain numbers where time is a number
- `split_column`: pieces that a column already says: numbers of folds, or train, valid and test
- `timeline`: pieces of time: intervals of equal length, or pieces with about equal numbers of rows
- `unlabelled`: pieces that disappear because none of their rows has a label
- `validation`: `validate`, which checks a cut: small or one-class pieces, rare classes, duplicates, groups, time
"""

from picsc.fragments.clients import ClientCut, cut_clients
from picsc.fragments.cutting import cut, uncut
from picsc.fragments.partitions import Partition, partition
from picsc.fragments.pieces import Cut, Fragment
from picsc.fragments.validation import validate

__all__ = ["ClientCut", "Cut", "Fragment", "Partition", "cut", "cut_clients", "partition", "uncut", "validate"]
