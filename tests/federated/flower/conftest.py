"""Flower's waiting times as short as they can be."""

from __future__ import annotations

import pytest


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits between two looks for answers, and messages have a number to come from."""
    from flwr.supercore.task_identity import TaskIdentity

    from picsc.federated.flower import grid

    monkeypatch.setattr(grid, "POLL", 0.0)
    monkeypatch.setattr(grid, "NEW_NODES", 0.0)
    for name in ("_run_id", "_node_id", "_task_id"):
        monkeypatch.setattr(TaskIdentity, name, 1)
