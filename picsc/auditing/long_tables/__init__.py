"""Long tables, of which the draws permute a subsample: counts by code that stand for all rows.

- `rare_codes`: rows whose code is so rare that a subsample would hold too few of them
- `scaled_counts`: counts by label and code in every draw, as they would be if all rows were permuted
"""
