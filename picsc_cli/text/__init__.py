"""Text on a page: sections, sheets, words.

- `audit_words`: what audits found in words, alike in every format: verdict lines, what moved, where a piece stands, and
  findings
- `method_names`: names of methods as the paper's tables have them
- `numbers`: numbers on a page: three digits, percent, percentage points, p-values, sizes and intervals
- `page`: the page a report is written on: its width and alphabet, and how names, paragraphs and tables look there
- `reading_words`: how a file was read, in words
- `sections`: sections that every report has: findings, the columns as they were understood, and the settings
- `sheet`: one table of a recipe, for every format that shows tables, and the cells that such tables share
"""
