"""The options of commands.

- `common`: the options of every command: names, help in one line, and the help panel each stands in
- `compare`: the options of `picsc compare` alone: target, weights, gate; the rest stands in `options` and
  `training_options`
- `fed`: the options of `picsc fed` alone: clients, methods, rounds; the rest stands in `options` and `training_options`
- `reading`: the options of how a table is read, alike for every command that reads one
- `training`: the options of what trains models: methods, penalty and training; the rest stands in `options`
"""
