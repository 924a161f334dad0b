"""One module per report format for machines; each turns a report into text and reads nothing else.

- `github`: audits as annotations of GitHub: `::error file=...,line=N,title=...::message`, at most ten of them
- `json`: A report as strict JSON: no NaN, no Infinity, one versioned layout (`schema`)
- `junit`: audits as JUnit XML: one suite per file, one test case per piece. Equal runs give equal bytes: no time, no
  host
- `plot`: accuracy over rounds as a picture: one line per method, named at its end, in SVG or a page around it
- `csv`: reports as CSV
- `markdown`: reports as Markdown
- `sheets`: tables that several formats share
- `table`: reports as tables for people
"""
