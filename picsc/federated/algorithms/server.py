"""The step of the server towards what the clients' models were joined to."""

from __future__ import annotations

from picsc.federated.algorithms.protocol import State

VELOCITY = "velocity"
"""Name of what the server keeps for itself."""


def server_step(state: State, joined: State, *, lr: float, momentum: float) -> State:
    """Move the global model towards what the clients' models were joined to.

    Args:
        state: before the round; its `VELOCITY` is the last move, absent before the first round.
        joined: after aggregation.
        lr: of the server; 1 without momentum goes all the way, to the bit.
        momentum: share of the last move that is kept.
    """
    if lr == 1 and momentum == 0:
        return joined
    move = joined["theta"] - state["theta"]
    if momentum:
        move = move + momentum * state[VELOCITY] if VELOCITY in state else move
        joined = {**joined, VELOCITY: move}
    return {**joined, "theta": state["theta"] + lr * move}
