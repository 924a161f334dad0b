"""A fitted estimator as a saved model, with its model card."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from picsc.runtime.versions import versions
from picsc.saved_models.card import CardFacts, card_text
from picsc.saved_models.folder import save_model


def saved(estimator: Any, sha256: str, rows: int, folder: str | Path) -> Path:
    """Write the model of an estimator.

    Args:
        estimator: a fitted `PicscClassifier` or `PicscRegressor`.
        sha256: digest of its training rows, or of its first batch.
        rows: rows that it has learned from.
        folder: a folder that does not exist, or is empty.

    Returns:
        The folder.

    Raises:
        SettingsError: the folder cannot be written.
    """
    facts = CardFacts(
        title=type(estimator).__name__,
        data="rows in memory",
        sha256=sha256,
        rows=rows,
        training=_training(estimator),
        settings={name: value for name, value in estimator.get_params().items() if value not in (None, ())},
        versions=dict(versions()),
    )
    return save_model(estimator.model_, folder, card_text(estimator.model_, facts))


def _training(estimator: Any) -> list[str]:
    """Its training in sentences."""
    if estimator.model_.training_rows is None:
        return [f"Algorithm 2 along {estimator.batches_seen_} batches; the digest is that of the first"]
    made = "made of them, stratified and shuffled" if estimator.made_fragments_ else "given"
    used = f", lambda {estimator.strength_:g}" if estimator.n_fragments_ > 1 else ""
    return [f"Algorithm 1 on {estimator.n_fragments_} fragments, {made}{used}"]
