"""One module per report format for machines; each turns a report into text and reads nothing else."""
