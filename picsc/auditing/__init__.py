"""The audit: cut, design, test, attribute, report.

- `attribution`: which pieces are shifted when one shifted piece is part of every other piece's reference
- `audit`: the verb `audit`: cut one table or set of images, test every piece, say whether it shifted and why
- `baseline`: shifts that were accepted: a small text file to compare later audits with, so that only what is new or
  worse fails
- `column_notes`: words for what a distance cannot say: a new category, supports that do not overlap, a piece without
  values
- `column_tests`: did a column move: KS for numbers, G-test for levels and for missingness, all from one table of counts
- `design`: from a cut to an experiment: what is compared with what, and what may change places under the null
- `domain_classifier`: shifts of the joint distribution that no single column shows, found by a classifier that tells
  pieces apart
- `exchangeability`: the null hypothesis "pieces are exchangeable", drawn by permuting piece labels
- `fold_balance`: how alike folds are: their mean column KL beside that of random folds
- `image_view`: images as the shift tests see them: a table of what a LeNet trained on all of them makes of each
- `model_tests`: does the model care: Fisher gap, Fisher KL and score of each piece, and the moments behind the
  covariate KL
- `multiplicity`: from many statistics to few decisions: permutation maxima with a family-wise error rate
- `null_statistics`: draws of every family of statistics: columns, per-row quantities, the domain classifier, the target
- `permutations`: piece labels under the null, for the whole table or for a subsample that stands for it
- `piece_tests`: test pieces, judge them, and set culprits aside: what every audit does once it knows what is compared
  with what
- `pixel_statistics`: what the pixels of an image are like, whatever it shows: a model that learns to look through noise
  does not tell
- `reference_model`: the small reference model of an audit
- `summary`: the three lines that come first: the verdict; the worst piece and why; what to do next
- `table_view`: from a data set to what the shift tests see: coded columns, a reference model, and what each row
  contributes
- `two_questions`: every statistic of every piece, and its draws under the null: did the data move, and does the model
  care?
- `verdict`: from p-values and effects to verdicts, in words
- `wide_ks`: KS distances of many numeric columns in all draws: walk along each column's sorted rows, with every draw at
  once
- `within_classes`: covariates as they are within each class, so that a piece with other class frequencies does not look
  shifted
"""
