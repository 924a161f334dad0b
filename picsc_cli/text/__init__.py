"""Parts that formats share: numbers, words, sections and tables on a page.

- `bars`: sizes between 0 and 1 as small bars of characters
- `audit_words`: results of audits in words, the same in every format: verdicts, columns that moved, and findings
- `method_names`: names of methods as in the paper's tables
- `metric_rows`: metrics by name, as cells and tables
- `numbers`: numbers on a page: three digits, percent, percentage points, p-values, sizes and intervals
- `p_values`: p-values of paired tests, each beside Holm's: cells and the table that reports of several methods share
- `page`: the page a report is written on: its width and alphabet, and how names, paragraphs and tables look there
- `reading_words`: the way a file was read, in words
- `sections`: sections that reports share: findings, the columns as they were understood, and the settings
- `sheet`: one table of a recipe for every format that shows tables, and cells that such tables share
"""
