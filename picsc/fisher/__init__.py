"""Diagonal Fisher information of any torch model, from the gradients of single rows.

- `diagonal`: the functions to use: empirical Fisher information (Eq. 1), of all rows or by fragment, expected Fisher
  information for rows without labels, and row scores
- `row_gradients`: scores of single rows, d log p(y | x; theta) / d theta, from one forward and backward pass
- `by_row`: scores of parameters that no rule explains, by automatic differentiation row by row
- `layers`: rules by layer type: row gradients from a layer's inputs and output gradients
- `factors`: row gradients kept as factors, whose sums of squares follow without writing any of them down
- `convolution`: sums of squared row gradients of convolutions, with their derivative for training with a penalty
- `subset_sums`: sums of squared scores over many subsets of rows, for the trigger's random halves of texts
"""
