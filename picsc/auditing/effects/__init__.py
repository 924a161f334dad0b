"""Sizes of differences in units that people know, with 95 % intervals: for what moved, and not before it is tested.

- `ceilings`: upper ends of effects, for those who must show that data did not shift
- `column_bounds`: settings of single columns: the names that they give exist, and leave something to test
- `columns`: how far a column moved: means in standard deviations, spread, levels and missing rates in points
- `counts`: rows counted by label and by bin or level, in a piece and in its reference
- `distributions`: counts of the columns that are named first, in a piece and in its reference
- `intervals`: 95 % intervals of differences of means and of rates, of rows that move alone or in units
- `matrix`: sizes of the leading columns in every piece, moved or not
- `model_fit`: how well the reference model predicts a piece, and how well its reference
- `sums`: sums of each piece and of its reference, and of the units that move together
"""
