"""Trained models of tables that leave picsc: predictions for new rows, and a folder of plain files.

- `model`: a trained network with the encoding of its columns, which predicts new rows
"""
