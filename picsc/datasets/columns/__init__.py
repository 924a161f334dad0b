"""Typed columns from raw ones: names, kinds, dates and the target.

- `dates`: dates that are written as words; a column is read as dates only if all of its words are
- `exact`: numbers that float64 does not hold exactly, and words that stand among numbers, both as codes
- `kinds`: the kind of each column (numeric, categorical, identifier, ...), decided on all of its values
- `missing_words`: words that stand for a missing value, one rule for every format
- `names`: unique column names, and checks of the names that a user gives
- `number_words`: ways of writing numbers: thousands, decimal marks, currencies, signs, durations
- `numbers`: columns of words that are numbers, all or nearly all of them
- `raw`: `Raw`, the values of one column of a pandas frame as plain numpy: numbers, dates or coded words
- `reading`: all columns of words of a table that are numbers, and remarks on the words that are none
- `stray_rows`: rows that are no data: a header that is repeated, units, totals
- `targets`: the choice of the target column, and its values as classes or numbers
"""
