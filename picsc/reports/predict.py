"""The report of `picsc predict`: predictions for new rows as plain values."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from picsc.phrases import counted, listed, share
from picsc.reports.common import Finding, brief, strict


@dataclass(frozen=True, slots=True)
class PredictReport:
    """Predictions of a saved model for the rows of one file."""

    model: str
    """Folder of the model."""
    model_sha256: str
    """SHA-256 of the model's file of digests."""
    source: str
    """File with the new rows."""
    source_sha256: str
    """SHA-256 of the bytes that were read."""
    target: str
    """Name of what is predicted."""
    classes: tuple[str, ...]
    """The classes, in the order of their probabilities; empty for numbers."""
    predictions: tuple[str | int | float, ...]
    """The most probable class of each row, or its number, in the order of the file."""
    probabilities: tuple[tuple[float, ...], ...]
    """The probability of each class for each row; empty for numbers."""
    findings: tuple[Finding, ...]
    """Columns that are ignored, and levels that the model does not know."""

    schema = "picsc.predict/1"

    def __repr__(self) -> str:
        """A few lines; `as_dict` has everything."""
        return brief(self, (counted(len(self.predictions), "row"),), self.lines)

    @property
    def lines(self) -> tuple[str, ...]:
        """The predictions in two lines."""
        n = len(self.predictions)
        first = f"{counted(n, 'row')} of {self.source} predicted by the model in {self.model}"
        if not self.classes:
            low, high = min(map(float, self.predictions)), max(map(float, self.predictions))
            mean = sum(map(float, self.predictions)) / n
            return first, f"{self.target}: mean {mean:.6g}, from {low:.6g} to {high:.6g}"
        count = dict.fromkeys(self.classes, 0)
        for each in self.predictions:
            count[str(each)] = count.get(str(each), 0) + 1
        each_class = [f"{name} in {share(rows, n)}" for name, rows in count.items()]
        return first, f"{self.target}: {listed(each_class, 20)}"

    def as_dict(self) -> dict[str, object]:
        """Plain JSON values; a change of a key bumps `schema`."""
        return strict({"schema": self.schema, **asdict(self)})
