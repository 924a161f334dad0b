"""Readers of images: one file a format."""
