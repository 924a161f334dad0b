"""Trained models of tables that leave picsc: predictions for new rows, and a folder of plain files.

- `model`: a trained network with the encoding of its columns, which predicts new rows
- `folder`: the folder of a saved model: its files, with a digest of each
- `destination`: the folder that a model is going to be saved in, checked before anything is computed
- `prediction`: predictions of a saved model for the rows of a file
- `encoding_file`: the encoding of its columns and target as JSON, and back
- `training_rows`: a summary of its training rows: some counts for each column, and no row
- `input_shift`: new rows against the training rows, of which counts alone are left
- `refitted`: a model of all rows by one method of a study, and the data that have such a model
- `study_card`: the facts of a model card that come from the report of a study
- `card`: its model card: the report's figures, and what they were compared with
"""
