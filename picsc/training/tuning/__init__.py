"""Choices that are made on training rows alone: lambda, its multiplier, weight decay, and running means.

- `grid`: the search of a number on a grid that is widened where the best candidate is at one of its ends
- `inner_cv`: lambda or weight decay by inner cross-validation
- `along_sequences`: what is used along a sequence of fragments
"""
