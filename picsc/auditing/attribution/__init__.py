"""Attribution, the fourth stage: which pieces are shifted when a shifted piece is part of every other's reference.

With the reference "rest", a strong shift of one fold makes the rest of every other fold different too, and with enough
rows every fold would be reported as shifted. So a majority of pieces is looked for that agree with one another; the
others are compared with that majority.

- `attribute`: the stage: tests of the majority among itself, and of the other pieces against it
- `findings`: what a reader is told of pieces set aside and of groups of pieces
- `groups`: pieces that agree with one another where no majority does, from the evidence of all pairs
- `largest_effects`: pieces set aside by the size of their effects, for federations that send summaries alone
- `majority`: the search for the majority, by evidence and such that innocent pieces are rarely left out of it
"""
