"""Row numbers of the pieces of one table, and what a person should know about a cut before trusting it."""

from picsc.fragments.cutting import Cut, Fragment, cut
from picsc.fragments.partitions import Partition, partition
from picsc.fragments.validation import validate

__all__ = ["Cut", "Fragment", "Partition", "cut", "partition", "validate"]
