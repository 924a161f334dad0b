"""Algorithm 2 as a callback of Lightning: one `trainer.fit` per fragment. Needs `pip install "picsc[lightning]"`."""

from __future__ import annotations

from typing import Any

from lightning.pytorch import Callback

from picsc.pytorch.anchor import Anchor
from picsc.pytorch.diagonal_fisher import diagonal_fisher
from picsc.pytorch.posterior_mean import PosteriorMean
from picsc.pytorch.shift_trigger import ShiftDecision, ShiftTrigger


class Algorithm2Callback(Callback):  # type: ignore[misc]
    """Compares every fragment with the one before, and holds the parameters while a shifted one is learned.

    Before training it compares the trainer's loader of training rows with that of the `fit` before; in each step it
    adds the anchor's gradient if the fragment is shifted, after gradients are unscaled and before they are clipped;
    after training it moves the anchor and updates the mean. With several processes, the first one's decision counts.

    Source: Algorithm 2, as in docs/pytorch.md.

    Args:
        trigger: of the module, with the likelihood and the keys of its batches.
        anchor: of the same module.
        merged: of the same module; None keeps no mean.
    """

    def __init__(self, trigger: ShiftTrigger, anchor: Anchor, merged: PosteriorMean | None = None) -> None:
        """Begin before the first fragment."""
        self.trigger, self.anchor, self.merged = trigger, anchor, merged
        self.decisions: list[ShiftDecision] = []
        """One per `fit`."""
        self._shifted = False

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:  # noqa: ARG002 - Lightning gives both
        """Compare the fragment with the one before."""
        decision = self.trigger.compare(trainer.train_dataloader)
        self._shifted = bool(trainer.strategy.broadcast(decision.shifted))
        self.decisions.append(decision)

    def on_before_optimizer_step(self, trainer: Any, pl_module: Any, optimizer: Any) -> None:  # noqa: ARG002 - likewise
        """Add the anchor's gradient."""
        if self._shifted:
            self.anchor.add_gradient()

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:  # noqa: ARG002 - likewise
        """Move the anchor to the current parameters, and update the mean."""
        trigger = self.trigger
        own = diagonal_fisher(
            trigger.model,
            trainer.train_dataloader,
            trigger.likelihood,
            labels=trigger.keys.labels,
            logits=trigger.keys.logits,
        )
        fisher = {name: trainer.strategy.reduce(each, reduce_op="mean") for name, each in own.items()}
        self.anchor.move(fisher if self._shifted else None)
        if self.merged is not None:
            self.merged.update(fisher)
