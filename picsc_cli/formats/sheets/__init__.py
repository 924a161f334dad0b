"""Tables that several formats share.

- `compare`: the tables of recipes with `verb: compare` as rows of cells, the same for every format that shows tables
- `fed`: the tables of recipes with clients as rows of cells, the same for every format that shows tables
"""
