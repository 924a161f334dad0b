"""The tables of recipes as rows of cells, which several formats show.

- `compare`: the tables of recipes with `verb: compare`
- `fed`: the tables of recipes with `verb: fed`
"""
