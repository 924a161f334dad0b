"""Reports as Markdown.

- `audit`: audits as Markdown, for a job's summary or a comment: verdicts, the pieces, findings, and the manifest
- `compare`: what a comparison found as Markdown, for a folder of results: targets, methods, risks, settings and
  versions
- `fed`: what a federation found as Markdown, for a folder of results: clients, methods, tests, settings and versions
- `recipes`: what recipes found as Markdown, for a folder of results: tables, tests, and the manifest for the same bytes
- `text`: tables in Markdown, and text from data that Markdown and HTML show as it is
"""
