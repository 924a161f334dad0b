"""Tables of millions of rows in parquet files, read twice in batches: memory does not grow with their rows.

The first pass takes a random sample of rows and counts classes and pieces. Kinds of columns, the places at which
numbers are compared, the reference model and the joint distribution come from the sample. The second pass counts every
column in all rows. Whatever cannot be done that way is done in memory, as for smaller tables.

- `audit_parts`: the audit of such a table, stage by stage
- `first_pass`: the sample, and the number of rows of each class and piece
- `parquet_parts`: parquet files as one table that is read in batches
- `piece_of_row`: the piece that a row belongs to, from its number, its class or its value
- `second_pass`: rows of the whole table by piece and code, of every column
"""
