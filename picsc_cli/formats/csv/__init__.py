"""Reports as CSV."""
