"""picsc inside scikit-learn code.

- `models`: `PicscClassifier` and `PicscRegressor`, trained by Algorithm 1, or along batches by Algorithm 2
- `weights`: `ShiftWeighter`, weights of training rows for target rows, and scores weighted by them
- `parameters`: the parameters of both, which are settings of `picsc cv`
- `saving`: a fitted estimator as a saved model, with its model card
- `training`: training of one model on all rows, and fragments where none are given
- `batches`: Algorithm 2 along batches that arrive one by one, with its state between two of them
- `arranging`: weighted and repeated rows in one arrangement, so that a weight is a number of rows
- `inputs`: rows, labels, fragments and weights as scikit-learn hands them over, as picsc's tables
- `scikit_learn`: checks of scikit-learn whose names differ between its versions
- `splitters`: cross-validation splitters: DOB-SCV, MS-SCV, batches in order, pieces of time
"""
