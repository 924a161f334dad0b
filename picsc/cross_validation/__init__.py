"""Standard against corrected cross-validation.

- `cross_validate`: the verb `cross_validate`: standard cross-validation against PIcsC and its controls, over folds or
  over batches
- `deployment`: the estimate to trust for the rows that a model will be used on, by `--deploy`
- `deployment_file`: the rows of a deployment file, encoded like the data, and weights between the two
- `experiment`: all repeats of one data set, and the setup of training
- `given_split`: the one split of a table whose column says train, valid and test
- `group_leakage`: finding on rows of one group that tell on each other
- `methods`: the methods that are compared, each a function that trains its models and returns their scores
- `new_in_piece`: findings on pieces that bring what the encoding has not seen
- `piece_scores`: scores of one method on every fold or batch
- `pooled_r2`: R^2 of the predictions of all pieces together, where no piece alone has one
- `predictions`: predictions of the models of every piece, as a file has them
- `refit`: a model of all rows by one of the methods, for use on new rows
- `report`: the report: means and intervals of every method, scores of every model, reasons for missing numbers
- `row_scores`: scores of single rows by models that have not seen them, for the estimates of `deployment`
- `significance`: the paired test by which two methods are compared
- `small_pieces`: finding on pieces that are too small for their Fisher information to mean much
- `splits`: the training rows and test rows of every repeat
- `summary`: the three lines at the top of the report
"""
