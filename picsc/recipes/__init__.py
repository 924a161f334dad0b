"""Experiments as YAML files.

- `across_datasets`: means and paired tests over data sets
- `checks`: what is wrong with a recipe although each of its values is right. Torch-free
- `compare_rows`: what a row of a recipe with `verb: compare` holds, from the report of its data set
- `grids`: the settings of every run of a recipe: its verb's, changed by grids and by the data set's entry. Torch-free
- `load`: recipes: experiments as YAML files, checked whole before anything slow starts. Torch-free
- `run`: run recipes: every data set and way to cut it once, whatever recipes ask for it, then one table per recipe
- `yaml`: YAML as version 1.2 reads it: `1e-3` is a number, `no` is a word, `010` is ten. Safe, bounded, with line
  numbers
"""
