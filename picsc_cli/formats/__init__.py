"""Reports as text: one module or folder per format; each reads the report and nothing else.

- `github`: audits as annotations of GitHub: `::error file=...,line=N,title=...::message`, at most ten of them
- `html`: reports as one file of HTML
- `json`: reports as strict JSON: no NaN, no Infinity, one versioned layout (`schema`)
- `junit`: audits as JUnit XML: one suite per file, one test case per piece
- `plot`: accuracy over federated rounds as a picture in SVG
- `csv`: reports as comma-separated values
- `markdown`: reports as Markdown
- `sheets`: the tables of recipes as rows of cells, which several formats show
- `table`: reports as tables for people
"""
