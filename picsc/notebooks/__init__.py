"""Reports in notebooks: as pandas frames and as matplotlib figures. Reports call these, so they know none of them.

- `figures`: figures of audits, methods and rounds
- `frames`: the tables of a report as frames
- `records`: dataclasses as flat rows
"""
