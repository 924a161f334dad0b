"""Correction for shift in somebody's own PyTorch loop: any `nn.Module`, any loader, any device.

The public names are those of `picsc`: `picsc.diagonal_fisher`, `fisher_penalty`, `Anchor`, `PosteriorMean` and
`ShiftTrigger`. docs/pytorch.md shows them in loops.

- `diagonal_fisher`: the Fisher information of a model on a loader's rows, by parameter name (Eq. 1)
- `fisher_penalty`: Algorithm 1's penalty between the fragments in a batch, for `loss.backward()`
- `anchor`: Eq. 16's term, which holds the parameters where earlier fragments need them, with Eq. 15's smoothing
- `posterior_mean`: the running mean of parameters, weighted by Fisher information
- `shift_trigger`: Eq. 14's tau of a fragment against the one before, with its calibrated threshold
- `lightning`: Algorithm 2 as a callback of Lightning, imported only where it is used
- `row_model`: a model and a batch as one log-likelihood per row, as `picsc.fisher` differentiates it
- `batches`: batches of loaders: tuples, dictionaries, and what models return for them
- `features`: inputs of one of the model's layers, as the covariates of its rows
- `sketch`: squared scores of large models as short vectors
- `likelihoods`: log-likelihoods of categories, yes-or-no labels and numbers, per row
- `modes`: the state of a model while its Fisher information is computed
- `named`: the parameters that training changes, by name
"""
