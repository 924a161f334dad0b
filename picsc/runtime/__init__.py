"""Devices, engines, threads and the folder that keeps finished parts of a run.

- `cache`: the platform's cache folder
- `devices`: the choice of the device that trains, its precision, and the precision of sums
- `digests`: SHA-256 digests of files
- `engines`: units of work in this process, in several, or on a Dask cluster
- `locks`: locks on files
- `predictions_file`: predictions of test rows as comma-separated values or parquet
- `run_folder`: the folder of a run's finished parts, so that an interrupted run can be resumed
- `threads`: limits on the number of threads of torch
- `versions`: versions of Python and of the packages behind a report, digest of picsc's code, kind of processor
- `whole_files`: files that are there whole or not at all
"""
