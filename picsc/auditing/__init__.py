"""The audit: cut, design, test, attribute, report. `audit.audit_dataset` calls one function for each stage.

- `attribution`: the fourth stage: find the pieces that agree, so that shifted ones do not make others look shifted
- `audit`: the verb `audit`, and the line of its five stages
- `baseline`: shifts that were accepted, kept in a small text file: only what is new or worse then fails an audit
- `column_notes`: notes in words where a number says too little: a new category, no overlap, words instead of numbers
- `joint_distribution`: shifts of several columns together that no single column shows, by those features
- `ks_and_g_tests`: tests of one column: KS for numbers, G-test for categories and for the rate of missing values
- `contrast_forest`: features of a row that say how its columns go together, learned without knowing the pieces
- `cutting`: the first stage: cut a table or images into pieces
- `design`: the second stage: the reference of each piece, and the rows that may change places under the null hypothesis
- `explanation`: what the statistic that speaks has seen, column by column and in words
- `effects`: sizes of differences in units that people know, with 95 % intervals
- `exchangeability`: the null hypothesis that pieces are exchangeable, drawn by permuting the labels of their rows
- `fold_balance`: how alike the folds of a cross-validation are, compared with random folds
- `image_view`: images as a table that the tests can use: the features that a small network computes from each image
- `long_tables`: tables of which the draws permute a subsample: rare rows are kept, and counts stand for all rows
- `many_rows`: tables of millions of rows in parquet files, read twice in batches and never held in memory
- `model_tests`: tests of what a model learns from a piece: Fisher gap, Fisher KL, score, and covariate KL from moments
- `multiplicity`: p-values corrected for the number of columns, pieces and statistics
- `null_statistics`: every other statistic in every permutation: columns, model, target
- `permutations`: permuted labels of all rows, or of a subsample that stands for them
- `piece_tests`: the third stage: the statistics and the verdict of every piece
- `other_columns`: tests of what no covariate shows: missing rates of columns left out, formats, levels that are new
- `pixel_statistics`: brightness, contrast and roughness of an image, for noise that a network's features do not show
- `reference_model`: the small neural network whose gradients the model tests use
- `report`: the last stage: the report, its three summary lines, its findings, and its manifest
- `streams`: blocks of rows that depend on their neighbours, which the null moves as a whole
- `table_view`: a table as the tests use it: coded columns, a reference model, and the numbers that each row contributes
- `two_questions`: the two questions of an audit, with p-values: did the data move, and does the model care?
- `verdict`: from p-values and effects to verdicts, each with its reason in words
- `wide_ks`: KS distances for tables of very many columns: one scan of each sorted column serves all permutations
- `within_classes`: columns as ranks within each class, so that a piece with other class frequencies does not look
  shifted
"""
