"""Readers of texts: reviews, plays and LEAF."""
