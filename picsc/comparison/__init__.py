"""PIcsC beside importance weighting.

- `compare`: the verb `compare`: PIcsC beside importance weighting (IW, IWCV, KMM, DIW), for a target that may be
  shifted
- `feature_space`: what weightings of rows look at: the covariates of two sets of rows as points of one space
- `iwcv`: importance-weighted cross-validation: risk on the target estimated, and chosen by, on training rows alone
- `methods`: the methods that a comparison runs, each from its trials to scores
- `summary`: from what methods scored to one report: means, intervals, paired tests and three lines of summary
- `transfer_tasks`: who learns, who may be looked at and who judges in a comparison
- `weights`: how much each training row of a trial counts, by every weighting that is wanted, and whether that can be
  trusted
"""
