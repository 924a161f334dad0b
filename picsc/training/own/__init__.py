"""Models of the user: estimators with scikit-learn's functions, and torch modules, on tables.

- `named`: a model by the name that `--model` gives: an import path, or a file and a function in it
- `estimator_trainer`: the trainer of estimators, which have no gradients
- `module_trainer`: the trainer of torch modules, one after another
- `checked_module`: a torch module that fits the data
- `applies`: what does not apply to models without gradients, and why
"""
