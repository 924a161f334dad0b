"""Parts of `benchmarks/cross_validation_estimates.py`.

- `tables`: tables of many rows, of which a sample is drawn
- `laws`: made tables: a linear and a curved law, groups that leave a mark on their rows, and a law that drifts
- `models`: models that are cheap to train on many splits of the same rows: ridge, nearest neighbours, a small tree
- `splits`: the splits, as the number of times that each model is given each row
- `bootstrap`: the .632+ bootstrap and its interval
- `scores`: one estimate, and the rows of results
- `same`, `groups`, `future`, `shifted`: a sample, its estimates and the truth, for each deployment
- `product`: the estimates of `picsc cv` with its own networks
- `summary`: bias, spread, coverage and choices, over draws
"""
