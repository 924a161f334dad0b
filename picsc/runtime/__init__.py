"""Devices, processes, threads and the folder that keeps finished parts of a run.

- `cache`: the folder for what can be made again
- `devices`: which processor trains, in which precision, and where sums are kept
- `digests`: digests of data and of files
- `processes`: tasks on several processor cores, as if they had run one after another: same results, same order, same
  errors
- `run_folder`: the folder that a run keeps its finished parts in, so that an interrupted run loses only the part in
  work
- `threads`: how many cores torch may use
- `versions`: versions of what computed a report, and the kind of processor
"""
