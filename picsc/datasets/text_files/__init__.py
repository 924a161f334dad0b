"""Readers of texts: reviews, plays and LEAF.

- `alphabet`: LEAF's alphabet of 80 characters: text as codes
- `detect`: which text, or LEAF file, a path holds: plays, reviews or LEAF's JSON
- `leaf`: LEAF's own JSON: FEMNIST's images, Shakespeare's windows and Sentiment140's words, each row with its user
- `leaf_json`: the users of LEAF's JSON, one after the other: a file of any size takes the memory of its largest user
- `reviews`: reviews as bags of words in svmlight files, one pair of files per domain; a domain is a client
- `shakespeare`: plays as next-character prediction, each role a client, as LEAF's Shakespeare task has it
"""
