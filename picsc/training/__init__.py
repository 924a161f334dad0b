"""Networks and their training: Algorithm 1, Algorithm 2, trainers, tuning.

- `algorithm_1`: the gradient of Algorithm 1's penalty, in one forward pass and two backward passes whatever the number
  of fragments
- `algorithm_2`: Algorithm 2: parameters carried along a sequence of fragments, held back where a fragment is shifted
- `defaults`: what tables, images and texts are trained with where settings leave it open, and the rows that take part
- `early_stopping`: stopping a training run when rows that were held out stop gaining
- `jobs`: what one model is to learn and to be judged by, and what came of it; the interface of tables and of images
- `lstm`: one layer of long short-term memory whose steps can be watched
- `methods`: the methods that several verbs share: plain training, Algorithm 1, weight decay, and their scores
- `minibatches`: which rows each step sees. Drawn on the CPU, so that every device trains on the same rows
- `network_inputs`: rows of images and of texts, by number, as their networks eat them
- `network_trainer`: training of one module after another, on inputs by row number
- `networks`: the small networks of the paper's "Model architectures", for tables and images, and two networks for texts
- `objectives`: what one training step minimises, and its gradient: the task's loss, and the penalties of Algorithm 1
  and Eq. 16
- `optimizers`: one step of an optimiser, in place
- `predict`: predictions of a trained model, a chunk of rows at a time
- `sequence_methods`: the methods along a sequence of fragments: Algorithm 2, carried parameters, with weight decay
- `single`: the training loop that every verb shares for single models, and what a trained model predicts
- `table_trainer`: training on tables: many small networks at once
- `tuning`: strengths chosen on training rows alone: lambda of corrected training, and weight decay, its control
- `batched`: many small networks trained as one batched computation
"""
