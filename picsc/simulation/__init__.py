"""Shifts made on purpose.

- `feature_noise`: Gaussian noise on the features of each client, the same for whoever asks: audit and training see one
  client alike
- `label_noise`: training labels replaced at random: what is learned from is wrong, and what judges is not
- `selection_bias`: training rows selected with a probability that depends on one covariate: a shift whose density ratio
  is known
"""
