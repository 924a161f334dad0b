"""Standard against corrected cross-validation.

- `cross_validate`: the verb `cross_validate`: standard cross-validation against PIcsC and its controls, fold- or
  batch-wise
- `methods`: the methods that cross-validation compares, each from its lessons to scored units
- `splits`: which rows train and which are tested in one repeat of a comparison
- `summary`: from what methods scored to one report: means, intervals, paired tests and three lines of summary
"""
