"""Experiments as YAML files: a verb's settings, its data sets, and the paper's numbers that ours are shown next to.

- `across_datasets`: means and paired tests over data sets
- `asked`: pieces as they were asked for, in words: folds, batches, clients or a target
- `bundled`: the recipes that come with picsc, by name
- `checks`: contradictions in a recipe whose values are right one by one
- `grids`: the settings of every task of a recipe: its verb's, changed by grids and by the data set's entry
- `load`: recipes read from files and checked whole before anything slow starts
- `rows`: rows of a recipe's table: what the report of one task adds to a row, next to the paper's numbers
- `run`: running recipes: equal tasks of several recipes once, then one table per recipe
- `task_runs`: runs of tasks, in this process or on a machine that must have the same files
- `tasks`: one task of a recipe: a verb run once, on one data set with one way to cut it
- `verb_checks`: contradictions in a recipe that only one verb has: its grids, cuts, clients and targets
- `verbs`: the verbs of recipes: one record per verb, with the settings, the run, the checks and the rows that are its
  own
- `yaml`: YAML 1.2 as Python values: `1e-3` is a number, `no` is a word, `010` is ten; safe, bounded, with line numbers
"""
