"""Simulated shifts and noise, added to data on purpose.

- `batch_shift`: a shift between batches of images: turned (and back), other classes, permuted pixels, noise
- `feature_noise`: Gaussian noise on the features of each client, the same in audit and training
- `label_noise`: random wrong labels for a share of the training rows; test rows keep theirs
- `selection_bias`: training rows selected with a probability that depends on a covariate, so that the density ratio of
  the shift is known
"""
