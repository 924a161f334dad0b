"""The paper's formulas, as functions of tensors: no data set, no model, no training loop.

- `likelihood`: log-likelihood of classes or numbers, which every model is trained with (in nats per row)
- `divergence`: Fisher gap and KL divergences between a piece and its reference (Eq. 5, 8 and 14)
- `covariate_kl`: covariate KL of two parts of some rows, for many ways to divide them at once (Eq. 8)
- `moment_kl`: covariate KL of two sets from sums alone, for clients that send no rows (Eq. 8)
- `trigger`: Algorithm 2's test whether a fragment is shifted: tau and its calibrated threshold (Eq. 14)
- `penalties`: terms that corrected training adds to the loss: Algorithm 1's penalties and Eq. 16's anchor, with Eq. 15
"""
