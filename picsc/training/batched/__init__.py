"""Many small networks trained as one batched computation.

- `diw`: dynamic importance weighting of many small networks at once: weights that follow the networks through training
- `early_stopping`: stopping each of many networks when the rows held out of its problem stop gaining
- `layout`: the rows of many training problems side by side, in the layout that batched training wants: rows innermost
- `mlp`: many small networks with one hidden layer at once: outputs, gradients and Fisher informations in closed form
- `train`: training of many small networks at once: every problem, method and candidate of a comparison in one loop
"""
