"""Metrics of trained models, their means, and paired tests of methods.

- `target_units`: units in which a numeric target is learned, and those in which it is scored
- `failures`: words for models that diverged
- `grouped_rows`: interval of a mean over rows where rows of one group go together
- `holm`: p-values of one method against several others, adjusted for their number
- `lifelong`: forgetting and transfer of models that learn one piece after another
- `majority`: the most frequent class, whose share an accuracy must beat
- `metrics`: accuracy, log-loss and area under the ROC curve on rows that a model was not trained on
- `nested_cv`: interval of a cross-validated score by nested cross-validation
- `paired_tests`: 95 % intervals and paired tests of the difference between two methods
- `judging`: the metrics by name that a run computes beside the accuracy, and how much each row counts
- `named_metrics`: metrics by the names that scikit-learn gives them
- `method_metrics`: metrics by name of one method in a report's form
- `means`: means over finite values, and differences between methods in a report's form
- `weighted_risk`: importance-weighted score of a cross-validation, and its interval
"""
