"""Tables in: from files, names and memory to one `Dataset`."""
