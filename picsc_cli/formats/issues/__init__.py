"""Reports as lists of issues, which formats for pipelines are made of: one verdict, whatever the format.

An issue is a failure exactly if it makes the command exit with 1 or 2, so that annotations, SARIF, code quality and
JUnit agree with the exit code.

- `any_report`: the issues of any report
- `audit`: of audits: pieces, columns under `--strict-schema`, findings, files that could not be audited
- `issue`: one issue, the place in a file that it is about, and a fingerprint that stays the same from run to run
- `rules`: kinds of issues in a sentence each
- `results`: of cross-validations, comparisons, federations and audits of clients
- `recipes`: of `picsc run`: one for each data set
"""
