"""The step of the server from its model towards the aggregated one."""

from __future__ import annotations

from picsc.federated.algorithms.protocol import State

VELOCITY = "velocity"
"""Name of the state that the server keeps and does not send: its last step."""


def server_step(state: State, aggregated: State, *, lr: float, momentum: float) -> State:
    """Move the global model towards the aggregated one.

    Args:
        state: before the round; its `VELOCITY` is the last step, absent before the first round.
        aggregated: the state after aggregation.
        lr: learning rate of the server; at 1 without momentum the result is the aggregated model, to the bit.
        momentum: share of the last step that is kept, in [0, 1).
    """
    if lr == 1 and momentum == 0:
        return aggregated
    step = aggregated["theta"] - state["theta"]
    if momentum:
        step = step + momentum * state[VELOCITY] if VELOCITY in state else step
        aggregated = {**aggregated, VELOCITY: step}
    return {**aggregated, "theta": state["theta"] + lr * step}
