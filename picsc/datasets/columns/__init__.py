"""Typed columns from raw ones: names, kinds, dates and the target.

- `dates`: dates that are written as words; a column is read as dates only if all of its words are
- `kinds`: the kind of each column (numeric, categorical, identifier, ...), decided on all of its values
- `look_alikes`: levels that look the same and are written with different characters
- `missing_words`: words that stand for a missing value, one rule for every format
- `names`: unique column names, and checks of the names that a user gives
- `precision`: one precision for values that were stored in two, such as float32 and float64
- `raw`: `Raw`, the values of one column of a pandas frame as plain numpy: numbers, dates or coded words
- `targets`: the choice of the target column, and its values as classes or numbers
"""
