"""Row numbers of the pieces of one table, and what a person should know about a cut before trusting it."""

from picsc.fragments.clients import ClientCut, cut_clients
from picsc.fragments.cutting import cut
from picsc.fragments.partitions import Partition, partition
from picsc.fragments.pieces import Cut, Fragment
from picsc.fragments.validation import validate

__all__ = ["ClientCut", "Cut", "Fragment", "Partition", "cut", "cut_clients", "partition", "validate"]
