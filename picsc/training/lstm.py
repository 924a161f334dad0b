"""A layer of long short-term memory whose Fisher information can be computed.

Training runs torch's fused kernel. While a hook hangs on the recurrent matrix, as `picsc.fisher.diagonal` needs, the
steps are taken one by one, so that every use of it is seen; the numbers are the same up to rounding.

Shape letters here: n rows, t positions, q inputs, h hidden units.
"""

from __future__ import annotations

import warnings

import torch
from torch import Tensor, nn


class Lstm(nn.Module):
    """Maps (n, t, q) to the states after every position, (n, t, h), from a state of zeros.

    Reading: gates are torch's (input, forget, candidate, output), with one bias each, not torch's two that add up.
    """

    def __init__(self, q: int, h: int) -> None:
        """A layer of q inputs and h hidden units; weights as torch draws them, within 1/sqrt(fan in)."""
        super().__init__()
        self.inputs = nn.Linear(q, 4 * h)
        self.recurrent = nn.Linear(h, 4 * h, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """The states after every position."""
        return self._step_by_step(x) if self.recurrent._forward_hooks else self._fused(x)

    def _fused(self, x: Tensor) -> Tensor:
        zero = x.new_zeros(1, len(x), self.recurrent.in_features)
        bias = self.inputs.bias
        weights = (self.inputs.weight, self.recurrent.weight, bias, torch.zeros_like(bias))
        with warnings.catch_warnings():
            # cuDNN wants all weights in one piece of memory and copies them where they are not
            warnings.filterwarnings("ignore", "RNN module weights are not part of single contiguous chunk")
            # cuDNN can only be differentiated in training mode, which changes nothing without dropout
            states: Tensor = torch.lstm(x, (zero, zero), weights, True, 1, 0.0, True, False, True)[0]
        return states

    def _step_by_step(self, x: Tensor) -> Tensor:
        h = x.new_zeros(len(x), self.recurrent.in_features)
        c, states = h, []
        for at_step in self.inputs(x).unbind(1):
            enter, forget, candidate, leave = (at_step + self.recurrent(h)).chunk(4, -1)
            c = torch.addcmul(enter.sigmoid() * candidate.tanh(), forget.sigmoid(), c)
            h = leave.sigmoid() * c.tanh()
            states.append(h)
        return torch.stack(states, 1)
