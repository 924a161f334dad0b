"""Networks and their training: plain, corrected by Algorithm 1 or Algorithm 2, and with importance weights.

A verb describes each model as a training job and hands the jobs to a trainer, which chooses between two engines: one
model at a time for any network (`single`), or many small networks at once for tables (`batched`).

- `jobs`: the interface: training jobs, trained models, and what a trainer of any kind of data offers
- `defaults`: settings that are left open, by kind of data, and the trainer that belongs to it
- `table_trainer`: the trainer of tables, which stacks many jobs
- `table_sequence_trainer`: its counterpart for sequences of fragments
- `table_problems`: rows of a table as training problems, shared by the two
- `network_trainer`: the trainer of images and texts, one model after another, and the training of a job's candidates
- `network_sequence_trainer`: its counterpart for sequences of fragments
- `network_inputs`: rows of images and texts, by number, as tensors for their networks
- `rebasing`: parameters carried from one encoding to the next, so that a model's function stays the same
- `tuning`: choices that are made on training rows alone
- `algorithm_2`: Algorithm 2: parameters carried along a sequence of fragments, held back where a fragment is shifted
- `methods`: the methods that several verbs share: plain training, Algorithm 1, weight decay, and their scores
- `sequences`: sequences of fragments side by side, and the rows that test their models
- `sequence_methods`: the methods along a sequence of fragments: Algorithm 2, carried parameters, with weight decay
- `single`: the training loop of one model, by automatic differentiation, with settings or by a recipe
- `single_inputs`: the loop's inputs: labelled rows, optimiser settings and corrections
- `objectives`: loss and gradient of one step: the task's loss, plus the penalties of Algorithm 1 and Eq. 16
- `algorithm_1`: the gradient of Algorithm 1's penalty, in two backward passes whatever the number of fragments
- `divergence`: the loss beyond which a model has failed, although its numbers may still be finite; checks of a run
- `minibatches`: row numbers of each step, drawn on the CPU so that every device trains on the same rows
- `optimizers`: one step of Adam or of gradient descent with momentum
- `early_stopping`: the end of training when the loss on rows held out no longer falls
- `predict`: predictions of a trained model, a chunk of rows at a time
- `networks`: the paper's small networks for tables and images, and two networks for texts
- `lstm`: a layer of long short-term memory with Fisher information
- `own`: models of the user: estimators and torch modules
- `batched`: the engine that trains many small networks as one computation
"""
