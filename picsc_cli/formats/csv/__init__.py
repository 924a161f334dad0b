"""Reports as CSV.

- `audit`: audits as comma-separated values: one line per piece, numbers in full, nothing for None
- `compare`: A comparison's report as comma-separated values: numbers in full, nothing for None
- `cv`: A report as comma-separated values (RFC 4180): numbers in full, nothing for None
- `fed`: A federation's report as comma-separated values: numbers in full, nothing for None
- `recipes`: what recipes found as comma-separated values: numbers in full, nothing for None
- `writer`: rows as CSV text
"""
