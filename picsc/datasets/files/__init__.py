"""Readers of tables: one file a format.

- `arff`: ARFF, the format of Weka and OpenML: dense and sparse rows under declared attributes
- `csv`: delimited text: read with pyarrow in blocks and typed by `delimited_columns`
- `csv_columns`: the type of one column of delimited text, decided on all of it: whole numbers, numbers or words
- `csv_dialect`: how delimited text is written, found in its first lines: delimiter, quotation mark, decimal mark,
  remarks
- `csv_head`: the first lines of delimited text, by which it is judged how it is written; and its records one by one
- `declared_values`: the values of tables whose columns are declared (ARFF, KEEL): quotes, escapes, numbers and levels
- `formats`: what a file holds, by what is told or by its name
- `jsonl`: JSON: one flat record per line, or one list of them
- `keel`: KEEL's .dat: attributes with ranges, which of them are inputs and outputs, and rows
- `libsvm`: libsvm (svmlight) files: `label index:value ...`
- `mistaken`: what a file is that was taken for delimited text and is none, by how it begins
- `npz`: tables of numpy arrays, in memory and in npz archives
- `parquet`: parquet, and Arrow's own files: IPC files and streams, of which feather is one
- `pickled_arrays`: pickle files that hold plain values and numpy arrays, read without running anything they ask for
- `read`: tables in files: which reader a file is for. Every format has a file of its own beside this one
- `sources`: files as plain bytes on disk: compression taken off, standard input and pipes kept
- `table`: what every reader of a file gives: a frame, and how it was read
- `text_lines`: the whole text of a file at once, for formats that are read line by line in Python
- `utf8`: text files as UTF-8 on disk: the encoding told or found, byte order marks taken off
- `xlsx`: tables in xlsx workbooks, read with openpyxl
"""
