"""Diagonal Fisher information, layer by layer.

- `convolution`: fragments' sums of squared row gradients of a convolution, with their gradient written out
- `diagonal`: diagonal Fisher information of any model, as a number, as a function of theta, and row by row (paper, Eq.
  1)
- `layers`: gradients of single rows with respect to one layer's parameters, kept as factors until something is asked of
  them
- `row_gradients`: scores of any model, the gradients of log p(y_i | x_i; theta) of single rows, from one forward and
  backward pass
- `subset_sums`: sums of squared scores over parts of some rows, for many ways to part them, without any row's scores of
  all words
"""
