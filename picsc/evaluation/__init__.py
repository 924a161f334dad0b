"""Metrics, their means and paired tests.

- `means`: means over what has a number, and paired differences as a report holds them
- `metrics`: how good models are on rows they have not seen: accuracy, log-loss and area under the ROC curve
- `paired_tests`: whether one method is better than another: 95 % intervals and paired tests of differences
"""
