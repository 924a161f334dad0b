"""Standard against corrected cross-validation."""
