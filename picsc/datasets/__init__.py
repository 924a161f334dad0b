"""Tables in: from files, names and memory to one `Dataset`.

- `data`: data of any kind: the type of everything that a reader gives and that a verb takes
- `description`: what a report says of its data and of how to get the same bytes again
- `encoding`: typed columns as one matrix of numbers for models
- `images`: images of one size with one class each, read once
- `inspection`: how a file is read and what it holds, without auditing it
- `load`: from a file, a frame or arrays to one `Dataset`
- `open`: from whatever a verb is given to one table or set of images: a value in memory, a file, or a name
- `rows`: some rows of a table, and two tables on top of each other
- `table`: the table that every verb works on: typed columns, one optional target, and the columns that cut it into
  pieces
- `texts`: texts as rows of token codes with one class and one owner each, read once
- `catalog`: data sets by name
- `columns`: column names, kinds, dates and targets
- `files`: readers of tables: one file a format
- `image_files`: readers of images: one file a format
- `text_files`: readers of texts: reviews, plays and LEAF
"""
