"""picsc inside scikit-learn code.

- `splitters`: cross-validation splitters: DOB-SCV, MS-SCV, batches in order, pieces of time
"""
