"""Tests of what no covariate shows: missing rates of columns left out, formats of words, levels that a reference lacks.

- `codes`: the columns of a table that are tested besides its covariates, as codes
- `formats`: the format of words: which characters are letters and digits
- `new_levels`: draws of the share of rows whose level the reference does not have
"""
