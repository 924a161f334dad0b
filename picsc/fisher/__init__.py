"""Diagonal Fisher information, layer by layer."""
