"""Data sets: tables, images and texts, read from files, from memory or by name.

- `canonical_order`: rows and levels in an order that does not depend on the order of a file
- `data`: `Data`, the union of the three kinds of data, and the questions that all three answer
- `description`: the description of the data in a report: columns, target, digest, and columns left out
- `encoding`: typed columns as one matrix of numbers for models
- `images`: `ImageSet`, images of one size with a class each
- `inspection`: a report on how a file is read and what it holds, without any test (`picsc data show FILE`)
- `judged`: the scores that a run computes on one table, of the target that it has
- `load`: a table from a file, a pandas frame or numpy arrays
- `memory`: tables in memory: frames of any library, arrays, and labels that come apart from them
- `natural_order`: words in an order where part 2 comes before part 10
- `open`: data from whatever a verb is given: a value in memory, a path, or the name of a data set
- `order_columns`: columns of times that order the rows, left out of tests of shift
- `reference_file`: a second table that the first is compared with, read in the same way
- `row_hashes`: one number per row, equal for equal rows
- `rows`: a part of a table's rows, and two tables stacked on top of each other
- `running_encoding`: encodings along a sequence of pieces, whose means and deviations grow with the pieces
- `schema`: columns of a table against those of its reference file: lost, new, of another kind, with new levels
- `table`: `Dataset`, a table of typed columns with an optional target and the columns that cut it into pieces
- `texts`: `TokenSet`, texts as rows of token codes with a class and an owner each
- `together`: a table and its reference, with the kind of every column decided on the rows of both
- `typed`: typed columns of a table from raw ones
- `catalog`: data sets by name, and the user's data directory
- `columns`: typed columns from raw ones: names, kinds, dates and the target
- `corruptions`: corruptions of images, each in five severities
- `files`: readers of tables in files, one module a format
- `image_files`: readers of images in files, one module a format
- `text_files`: readers of texts in files: reviews, plays and LEAF's JSON
"""
