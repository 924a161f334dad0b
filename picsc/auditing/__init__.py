"""The audit: cut, design, test, attribute, report."""
