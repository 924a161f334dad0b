"""PIcsC beside importance weighting."""
