"""Long tables, of which the draws permute a subsample: codes in little time, and counts that stand for all rows.

- `places`: places of numbers among increasing edges, several times as fast as a search by halves
- `rare_codes`: rows whose code is so rare that a subsample would hold too few of them
- `scaled_counts`: counts by label and code in every draw, as they would be if all rows were permuted
- `whole_counts`: the same of a table that is not in memory, of which a sample is
"""
