"""Devices, processes, threads and the folder that keeps finished parts of a run."""
