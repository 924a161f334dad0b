"""Reports as tables for people.

- `audit`: audit reports as text for people: three lines of summary, a table as a paper prints it, findings, a footer
- `compare`: A comparison's report as text for people: three lines, the paper's table, the methods, risks, targets, a
  footer
- `cv`: A cross-validation report as text for people: three lines, the paper's table, the comparison, findings, a footer
- `data`: `picsc data show` as text: one fact per line, then a table of columns
- `fed`: A federation's report as text for people: three lines, clients, the paper's table, the comparison, a footer
- `fed_audit`: an audit of clients by their summaries as text for people: three lines, one table, findings, a footer
- `recipes`: what recipes found as text for people: one table per recipe, the paper's number beside ours, then tests
  over sets
"""
