"""Readers of tables in files, one module a format.

- `arff`: ARFF, the format of Weka and OpenML: dense or sparse rows of declared attributes
- `compression`: decompression of a file as a stream: gzip, zstd, bzip2, xz, and zip archives of one file
- `csv`: delimited text such as csv, read in blocks with pyarrow
- `csv_columns`: the type of a column of delimited text, decided on the whole column: whole numbers, numbers or words
- `csv_dialect`: the dialect of delimited text, found in its first lines: delimiter, quotation mark, decimal mark,
  comments
- `csv_head`: the first lines of delimited text, from which the dialect is found, and an iterator over its records
- `declared_values`: values in formats that declare their columns (ARFF, KEEL): quotes, escapes, numbers and levels
- `formats`: the format of a file, as given by the user or by its suffix
- `joined`: frames of several files as one frame
- `jsonl`: JSON with one flat record per line, or one list of records
- `keel`: KEEL's .dat format: attributes with ranges, divided into inputs and outputs, and rows
- `libsvm`: libsvm (svmlight) files with lines `label index:value ...`
- `many`: several files as one table: those of a folder, or of a pattern
- `mistaken`: recognition of other formats that were mistaken for delimited text, by their first bytes
- `npz`: tables of numpy arrays, in memory or in npz archives
- `parquet`: parquet files, Arrow's IPC files and streams (feather is one of these), and Arrow tables in memory
- `pickled_arrays`: a safe reader of pickle files with plain values and numpy arrays, which runs no code from the file
- `read`: the choice of the reader for a file
- `sources`: files as plain bytes on disk: decompressed, or copied from the web, standard input and pipes
- `table`: `FileTable`, the result of every reader: a frame, its digest, and how the file was read
- `text_lines`: the whole text of a file, for formats that are parsed line by line in Python
- `utf8`: text files as UTF-8 on disk, decoded from the encoding that the user gives or that is detected
- `web`: files on the web
- `xlsx`: tables in xlsx workbooks, read with openpyxl
"""
