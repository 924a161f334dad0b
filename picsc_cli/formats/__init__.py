"""Reports as text: one module or folder per format; each reads the report and nothing else.

- `code_quality`: reports as GitLab's code quality
- `github`: reports as annotations of GitHub: `::error file=...,line=N,title=...::message`, at most ten of them
- `html`: reports as one file of HTML
- `issues`: reports as lists of issues, which formats for pipelines are made of
- `json`: reports as strict JSON: no NaN, no Infinity, one versioned layout (`schema`)
- `junit`: audits as JUnit XML: one suite per file, one test case per piece
- `junit_results`: all other reports as JUnit XML: one test case per method, client or data set
- `plot`: accuracy over federated rounds as a picture in SVG
- `sarif`: reports as SARIF 2.1.0
- `csv`: reports as comma-separated values
- `markdown`: reports as Markdown
- `sheets`: the tables of recipes as rows of cells, which several formats show
- `table`: reports as tables for people
"""
