"""Data sets by name.

- `directory`: where a user's data sets are kept, and how a file or folder is found there by name
- `inventory`: what the data directory holds, what could be got, and what one data set is made of
- `lookup`: data sets by name: from the user's data directory, from scikit-learn, then from OpenML
- `natural_clients`: tables whose rows came from several people, sites or batches: natural clients, by name
- `natural_files`: the files of tables with natural clients, in every layout in which they are given out
- `openml`: data sets from OpenML: tables as they are, and image sets out of tables of pixels
- `registry`: the data sets that recipes and --dataset know by name: the paper's image sets and its 27 tables, and
  natural clients
- `store`: files that `picsc data get` leaves in the data directory: one per data set, its SHA-256 beside it
- `tables`: A table by name from its file: csv with or without a header line, UCI's .data, ARFF, KEEL's .dat, parquet,
  npz
"""
