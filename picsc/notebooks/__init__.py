"""Reports in notebooks: as pandas frames and as matplotlib figures. Reports call these, so they know none of them.

- `audits`: figures of audits: effects by column and piece, distributions, and clients by their summaries
- `canvas`: the canvas of all figures: an empty one, names in few letters, and lines that differ without colour
- `experiments`: figures of recipes: by lambda, by noise, by number of pieces, else by data set
- `figures`: the figure of a report, by its kind
- `frames`: the tables of a report as frames
- `matrices`: maps of what models know of every piece or client over time
- `methods`: figures of methods: scores with intervals, what is forgotten along pieces, and rounds
- `picture_files`: figures as files, PNG and SVG
- `records`: dataclasses as flat rows
"""
