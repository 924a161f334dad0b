"""The paper's formulas.

- `covariate_kl`: covariate KL between two parts of some rows, for many ways to part them at once (paper, Eq. 8)
- `divergence`: divergences between a piece P and its reference Q (paper, Eq. 5, 8 and 14)
- `likelihood`: the log-likelihood that every model is trained with and every Fisher information is taken of, in nats
  per row
- `moment_kl`: covariate KL of two sets of rows from their first two moments, which is all that leaves a client (paper,
  Eq. 8)
- `penalties`: what corrected training adds to the task's loss: Algorithm 1's penalties, Eq. 15's smoothing and Eq. 16's
  anchor
- `trigger`: when is a fragment of a sequence shifted: tau and its calibrated threshold (paper, Eq. 14 and Algorithm 2)
"""
