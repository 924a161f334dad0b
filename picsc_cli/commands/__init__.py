"""One file a command.

- `audit`: `picsc audit`: which pieces of a table are shifted against the rest of it
- `audit_files`: the audits of one call: one file gives its report, several give all that could be made, with one
  reference
- `compare`: `picsc compare`: PIcsC, plain training and importance weighting, where training and target rows
  differ
- `config`: `picsc config`: the settings that a command would run with, and where each comes from
- `cv`: `picsc cv`: standard against corrected cross-validation of one data set
- `data`: `picsc data`: which data sets are there, getting one, and what is in one, or in a file
- `fed`: `picsc fed`: clients that send models and statistics in place of rows
- `fed_app`: `picsc fed-app`: a Flower project, for clients on machines of their own
- `predict`: `picsc predict`: predictions of a saved model for new rows
- `recipe`: `picsc recipe`: check recipes without running them, and their JSON Schema for editors
- `run`: `picsc run`: recipes, one table each with the paper's numbers next to ours
- `view`: `picsc view`: a saved report in any format, without computing it again
"""
