"""Reports as comma-separated values: numbers in full, empty fields for None.

- `audit`: audits, one line per piece
- `compare`: a comparison of methods, one line per trained model
- `cv`: a cross-validation, one line per trained model
- `fed`: a federation, one line per method and client, and an audit of clients, one line per client
- `predict`: predictions, one line per row
- `recipes`: recipes, one line per data set and way to cut it
- `writer`: rows as text with commas, as RFC 4180 has it
"""
