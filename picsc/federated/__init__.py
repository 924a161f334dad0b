"""Federated training and the audit of clients."""
