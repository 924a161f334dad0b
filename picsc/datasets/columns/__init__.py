"""Column names, kinds, dates and targets."""
