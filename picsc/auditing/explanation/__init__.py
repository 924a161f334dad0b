"""Explanation of a shift: what the statistic that speaks has seen, and the same in words.

- `effects_of_columns`: effects of the columns that are significant by their own tests, and pieces where none is
- `equivalence`: the verdict of a piece that is to be shown to be like its reference
- `kl_by_column`: the covariate KL column by column: a mean or a spread that a few rows move
- `large_enough`: effects compared with the smallest ones that count, each with the bound of its own kind
- `reasons`: the reason of a verdict in words, with the effect and the p-value of what it names
"""
