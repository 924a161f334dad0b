"""Reports as tables for people.

- `audit`: audits: three lines of summary, a table as a paper prints it, findings, a footer
- `compare`: a comparison of methods: three lines, the paper's table, the methods, risks, targets, a footer
- `cv`: a cross-validation: three lines, the paper's table, the comparison, findings, a footer
- `data`: one file as it was read: one fact per line, then a table of columns
- `fed`: a federation: three lines, clients, the paper's table, the comparison, a footer
- `fed_audit`: an audit of clients by their summaries: three lines, one table, findings, a footer
- `predict`: predictions of a saved model: two lines of summary, findings, the first rows
- `recipes`: recipes: one table each, the paper's number next to ours, then tests over data sets
"""
