"""Engines: units of work in this process, in processes beside it through joblib, or on a Dask cluster.

- `away`: a unit on another machine, with the parts of a run folder that it needs and those that it made
- `dask_cluster`: units on the workers of a Dask cluster
- `interrupts`: interrupts delayed while processes start
- `local`: units in this process, or in several through joblib
- `opening`: the engine that a setting names
- `parts`: computations in parts that a run folder keeps, each missing part a unit
- `shards`: units of a run that several commands share, each unit taken by one of them
- `stage`: units of work that do not depend on each other, and what an engine is
- `worker`: one unit inside a process of its own
"""
