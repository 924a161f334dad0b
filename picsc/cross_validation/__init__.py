"""Standard against corrected cross-validation.

- `cross_validate`: the verb `cross_validate`: standard cross-validation against PIcsC and its controls, over folds or
  over batches
- `experiment`: all repeats of one data set, and the setup of training
- `group_leakage`: finding on rows of one group that tell on each other
- `methods`: the methods that are compared, each a function that trains its models and returns their scores
- `new_in_piece`: findings on pieces that bring what the encoding has not seen
- `piece_scores`: scores of one method on every fold or batch
- `pooled_r2`: R^2 of the predictions of all pieces together, where no piece alone has one
- `report`: the report: means and intervals of every method, scores of every model, reasons for missing numbers
- `significance`: the paired test by which two methods are compared
- `small_pieces`: finding on pieces that are too small for their Fisher information to mean much
- `splits`: the training rows and test rows of every repeat
- `summary`: the three lines at the top of the report
"""
