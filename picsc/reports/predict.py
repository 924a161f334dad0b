"""The report of `picsc predict`: predictions for new rows as plain values."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from picsc.phrases import counted, listed, share
from picsc.reports.common import Finding, Verdict, brief, strict


@dataclass(frozen=True, slots=True)
class ColumnShift:
    """One column of the new rows against the training rows."""

    name: str
    rows: int
    """New rows with a value."""
    p: float | None
    """p-value of any difference, in values or in missing ones; None where neither has any."""
    p_holm: float | None
    """That p-value, adjusted over the columns."""
    distance: float | None
    """Of levels, the largest change of a level's share; of numbers, the largest distance of the distribution functions;
    in [0, 1]. None where either has no value."""
    moved: float | None
    """Difference of the means in standard deviations of the training rows; None for levels."""
    missing_before: float
    """Share of the training rows without a value."""
    missing_now: float
    """Share of the new rows without a value."""
    words: str
    """The level whose share has changed most; empty for numbers."""
    verdict: Verdict
    """shift, ok, or inconclusive where there are few new rows."""


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

    shift: tuple[ColumnShift, ...] | None = None
    """The columns of the model against its training rows; None where that was not asked for."""

    schema = "picsc.predict/1"

    def __repr__(self) -> str:
        """A few lines; `as_dict` has everything."""
        return brief(self, (counted(len(self.predictions), "row"),), self.lines)

    @property
    def shifted(self) -> tuple[ColumnShift, ...]:
        """The columns that have shifted, the most certain first."""
        found = [each for each in self.shift or () if each.verdict == "shift"]
        return tuple(sorted(found, key=lambda each: (each.p or 0.0, -(each.distance or 0.0))))

    @property
    def verdict(self) -> Verdict:
        """Of all columns: shift if any has shifted, else inconclusive if any is, else ok; `not tested` without any."""
        if self.shift is None:
            return "not tested"
        verdicts = {each.verdict for each in self.shift}
        return "shift" if "shift" in verdicts else "inconclusive" if "inconclusive" in verdicts else "ok"

    @property
    def shift_line(self) -> str:
        """The comparison with the training rows in one line; empty where it was not asked for."""
        if self.shift is None:
            return ""
        k = len(self.shift)
        if not self.shifted:
            few = "; some have too few values to tell" if self.verdict == "inconclusive" else ""
            return f"input: none of {counted(k, 'column')} has shifted against the training rows{few}"
        names = listed([repr(each.name) for each in self.shifted])
        return f"input: {len(self.shifted)} of {counted(k, 'column')} shifted against the training rows: {names}"

    @property
    def lines(self) -> tuple[str, ...]:
        """The predictions in two lines."""
        n = len(self.predictions)
        more = (self.shift_line,) if self.shift is not None else ()
        first = f"{counted(n, 'row')} of {self.source} predicted by the model in {self.model}"
        if not self.classes:
            low, high = min(map(float, self.predictions)), max(map(float, self.predictions))
            mean = sum(map(float, self.predictions)) / n
            return first, f"{self.target}: mean {mean:.6g}, from {low:.6g} to {high:.6g}", *more
        count = dict.fromkeys(self.classes, 0)
        for each in self.predictions:
            count[str(each)] = count.get(str(each), 0) + 1
        each_class = [f"{name} in {share(rows, n)}" for name, rows in count.items()]
        return first, f"{self.target}: {listed(each_class, 20)}", *more

    def as_dict(self) -> dict[str, object]:
        """Plain JSON values; a change of a key bumps `schema`."""
        return strict({"schema": self.schema, **asdict(self)})
