"""Diagonal Fisher information of any torch model, from the gradients of single rows.

- `diagonal`: the functions to use: empirical and expected Fisher information (paper, Eq. 1), by fragment, and row
  scores
- `row_gradients`: scores of single rows, d log p(y | x; theta) / d theta, from one forward and backward pass
- `layers`: rules by layer type that give row gradients as factors, so that none has to be written down
- `convolution`: the rule of convolutions when fragments are penalised, with its derivative written out
- `subset_sums`: sums of squared scores over many subsets of rows, for the trigger's random halves of texts
"""
