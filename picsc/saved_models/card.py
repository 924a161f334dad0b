"""The model card of a saved model: what it is for, how well it did, and against what, in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from picsc.saved_models.model import TableModel

_NEW_ROWS = (
    "New rows need all of these columns, in any order; others are ignored. A level that the training rows did not have "
    "counts as a pooled one where rare levels were pooled, else as a missing value."
)
_FILES = (
    "`weights.safetensors` holds the parameters, `encoding.json` the columns with their kinds, levels and scales, "
    "`training-rows.json` counts of the training rows by column, with the names of their levels, and no row, and "
    "`SHA256SUMS` a digest of each file (`sha256sum -c SHA256SUMS`). No file is a program."
)


@dataclass(frozen=True, slots=True)
class CardFacts:
    """What a card says besides what the model itself knows."""

    title: str
    """What the model is, in a few words."""
    data: str
    """Name of the training data."""
    sha256: str
    """Digest of the training data; empty where there is none."""
    rows: int
    """Training rows."""
    training: Sequence[str]
    """How it was trained, one sentence each."""
    figures: Sequence[tuple[str, ...]] = ()
    """A table, the header first; () where nothing was measured."""
    remarks: Sequence[str] = ()
    """Sentences on those figures."""
    settings: Mapping[str, object] | None = None
    versions: Mapping[str, object] | None = None


def card_text(model: TableModel, facts: CardFacts) -> str:
    """The model card.

    Args:
        model: what it is about.
        facts: what else it says.
    """
    target = model.target
    outputs = f"one of {len(target.classes)} classes" if target.kind == "classes" else "a number"
    network = (
        f"A network with one hidden layer of {model.hidden} units and {len(model.theta)} parameters, made by picsc."
    )
    columns = [("column", "kind", "levels")]
    columns += [(column.name, column.kind, str(len(column.levels) or "")) for column in model.known.columns]
    parts = [
        f"# {_plain(facts.title)}",
        f"Predicts {_code(target.name)}, {outputs}, from {len(model.columns)} columns. {network}",
        "## Training",
        *[f"- {_plain(sentence)}" for sentence in _training(facts)],
        "## How well it does",
        *(
            [_table(facts.figures), *[f"- {_plain(each)}" for each in facts.remarks]]
            if facts.figures
            else ["Nothing was measured when it was saved: compare it with other models on rows that it has not seen."]
        ),
        "## Columns",
        _table(columns),
        _NEW_ROWS,
        "## What is in this folder",
        _FILES,
    ]
    for heading, held in (("Settings", facts.settings), ("Versions", facts.versions)):
        if held:
            parts += [f"## {heading}", _table([("name", "value"), *((name, str(held[name])) for name in held)])]
    return _spaced(parts)


def _training(facts: CardFacts) -> list[str]:
    digest = f", SHA-256 {facts.sha256}" if facts.sha256 else ""
    return [f"data: {facts.data}{digest}", f"{facts.rows} rows", *facts.training]


def _spaced(parts: Sequence[str]) -> str:
    """Paragraphs with an empty line between them, and none between the items of a list."""
    text = ""
    for before, part in zip(("", *parts), parts, strict=False):
        text += "" if not text else "\n" if before.startswith("- ") and part.startswith("- ") else "\n\n"
        text += part
    return text + "\n"


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    header, *body = [[_plain(cell).replace("|", "\\|") for cell in row] for row in rows]
    lines = [header, ["---"] * len(header), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _plain(text: str) -> str:
    """Text on one line, without marks that Markdown would read as a tag or a link."""
    return " ".join(text.split()).replace("<", "&lt;").replace("[", "\\[")


def _code(text: str) -> str:
    return "`" + " ".join(text.split()).replace("`", "'") + "`"
