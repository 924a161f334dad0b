"""Reports as Markdown, for a job's summary, a comment or a folder of results.

- `audit`: audits: verdicts, pieces, findings and the manifest
- `compare`: a comparison of methods: targets, methods, risks, settings and versions
- `cv`: a cross-validation: pieces, methods, findings, settings and versions
- `fed`: a federation or an audit of clients: clients, methods, tests, settings and versions
- `recipes`: recipes: tables, tests, and the manifest
- `text`: tables in Markdown, text from data that Markdown and HTML show as it is, and sections that reports share
"""
