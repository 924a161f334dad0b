"""picsc: measure and correct partition-induced covariate shift (the paper's PIcsC)."""
