"""The engine that trains many of the paper's small networks for tables as one batched computation.

- `layout`: the rows of many training problems side by side in one tensor, a stack
- `mlp`: the networks of a stack: parameters, outputs, losses and predictions
- `gradients`: their gradients and Fisher informations in closed form, with Algorithm 1's penalty
- `train`: the training loop over all networks of a stack
- `steps`: the rows of each step: all, minibatches, or minibatches with an equal share of every fragment
- `early_stopping`: the end of each network's training when the loss on rows held out no longer falls
- `diw`: dynamic importance weighting: row weights that follow the networks through training
"""
