"""PIcsC compared with importance weighting.

- `compare`: the verb `compare`: PIcsC and importance weighting (IW, IWCV, KMM, DIW) on data whose target rows may have
  another distribution than the training rows
- `feature_space`: the features of training and target rows that weightings use
- `given_split`: train and test rows that a column of the table says
- `inputs`: the tasks, weights and training setup that every method gets
- `iwcv`: importance-weighted cross-validation, which estimates the risk on the target from training rows
- `method_words`: a description of every method in one line
- `methods`: the methods that are compared, each a function that trains one model per task
- `predictions`: predictions of the models of every target, as a file has them
- `report`: the report: means and intervals of every method, scores of every model, weights and risks
- `refit`: a model for the one target by one of the methods, for use on new rows
- `run_methods`: the run: weights of every task, then every method, in one or several processes
- `significance`: the paired test by which two methods are compared
- `summary`: the three lines at the top of the report
- `targets`: pieces as targets, and the pieces that are trained on for each
- `task_scores`: scores of one method on every task
- `transfer_tasks`: the tasks: training rows, target rows that methods may use, and test rows
- `wanted_methods`: the methods of a run: those asked for, and their controls
- `weights`: the weights of a task's training rows, or the reason why a weighting is refused
"""
