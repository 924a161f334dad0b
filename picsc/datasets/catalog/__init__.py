"""Data sets by name, and the user's data directory.

- `directory`: the data directory, and the search for a file or folder in it by name
- `inventory`: the commands `picsc data list`, `show` and `get`: sets that are there, a description of one, a download
- `lookup`: a data set by its name: from the data directory, from scikit-learn, or else from OpenML
- `made_from_files`: corrupted sets of images from the files of their authors
- `made_names`: names of image sets that are made from another set, with what is wanted of them: `cifar10-c-fog-3`
- `made_plan`: the plan of a made set: which corruption, severity or noise each image gets, and who owns it
- `made_sets`: image sets that are made from another set: permuted pixels, corruptions, and Gaussian noise
- `natural_clients`: tables whose rows come from several people, sites or batches, which are natural clients
- `natural_files`: readers of the files of those tables, in every layout in which they are distributed
- `openml`: downloads from OpenML: tables as they are, and images from tables of pixels
- `registry`: the list of data sets with a name: the paper's image sets and 27 tables, and sets with natural clients
- `store`: files that `picsc data get` writes into the data directory, each with a file of its SHA-256
- `tables`: the reader of a named table's file: csv with or without a header line, ARFF, KEEL's .dat, parquet or npz
"""
