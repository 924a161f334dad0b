"""Typed columns from raw ones: names, kinds, dates and the target.

- `calendar`: moments from the parts of dates: year, month, day, quarter, week, clock and time zone
- `date_columns`: the columns of a table that hold dates, and findings on how they were read
- `date_numbers`: dates that are written as numbers: yyyymmdd, seconds since 1970, days as Excel counts them
- `date_shapes`: shapes of dates that are written as words, a pattern for each
- `dates`: dates that are written as words; a column is read as dates only if nearly all of its words are
- `exact`: numbers that float64 does not hold exactly, and words that stand among numbers, both as codes
- `joining`: rows of one column from two tables or files, in one form
- `kept`: columns that take part because the user keeps them
- `kinds`: the kind of each column (numeric, categorical, identifier, ...), decided on all of its values
- `look_alikes`: levels that look the same and are written with different characters
- `missing_words`: words that stand for a missing value, one rule for every format
- `names`: unique column names, and checks of the names that a user gives
- `number_words`: ways of writing numbers: thousands, decimal marks, currencies, signs, durations
- `numbers`: columns of words that are numbers, all or nearly all of them
- `ordering`: measure of how far a column orders the rows
- `precision`: one precision for values that were stored in two, such as float32 and float64
- `raw`: `Raw`, the values of one column of a pandas frame as plain numpy: numbers, dates or coded words
- `reading`: all columns of words of a table that are numbers, and remarks on the words that are none
- `stray_rows`: rows that are no data: a header that is repeated, units, totals
- `targets`: the choice of the target column, and its values as classes or numbers
"""
