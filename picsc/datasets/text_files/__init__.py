"""Readers of texts in files: reviews, plays and LEAF's JSON.

- `alphabet`: the codes of LEAF's alphabet of 80 characters
- `detect`: the choice of a reader for a path: plays, reviews or LEAF's JSON
- `leaf`: data sets in LEAF's JSON (FEMNIST, Shakespeare, Sentiment140), where each row has a user
- `leaf_json`: a parser of LEAF's JSON that yields one user at a time, so that large files need little memory
- `reviews`: reviews as bags of words in svmlight files, with one client per domain
- `shakespeare`: plays as a task of next-character prediction, with one client per role, as in LEAF
"""
