"""Column names, kinds, dates and targets.

- `dates`: dates in words: strict, all or none, and never a plain number
- `kinds`: what each column of a table holds, decided on all of its values
- `names`: column names: made unique, and the ones a user asks for looked up
- `raw`: one column of a frame without pandas: numbers, dates or coded words
- `targets`: the column that a model predicts: which one, and whether it holds classes or numbers
"""
