"""The settings of `picsc audit`."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from picsc.reports.effects import SmallestEffects
from picsc.settings.choices import REFERENCES, Reference
from picsc.settings.column_patterns import bound_of
from picsc.settings.cutting import CutSettings, Keys, PartitionSettings
from picsc.settings.fields import Jobs, NotNegative, Seed, SmallShare
from picsc.settings.option import Option
from picsc.settings.own_model import ModelSettings
from picsc.settings.reading import ReadSettings

DRAWS = 999
"""Permutations of the null that every table gets."""


class AuditSettings(ModelSettings):
    """All settings of `picsc audit`; the data are none of them.

    Example:
        >>> import picsc
        >>> settings = picsc.AuditSettings.model_validate({"cut": {"folds": 10}, "level": 0.01})
        >>> settings.cut.folds, settings.level
        (10, 0.01)
        >>> settings.seed  # all others have their defaults: `picsc.audit(data, settings=settings)`
        0
    """

    read: ReadSettings = ReadSettings()
    cut: CutSettings = CutSettings()
    clients: PartitionSettings = PartitionSettings()
    """Invented clients as pieces; columns with one piece per value are those of `cut.by`."""
    reference: Annotated[
        Reference | None, Option("rest, previous, first or a file (default: by cut).", "REF", "Verdict")
    ] = None
    """Reference of each piece: rest, previous, first, or the path of a file; None is `previous` for batches and time,
    else `rest`. Against a file, all rows are one piece unless a way to cut is given."""
    strict_schema: Annotated[
        bool, Option("Exit 1 where columns differ from the file's.", panel="Verdict", after="reference")
    ] = False
    """Columns lost or new, of another kind, or with new levels beside a reference file make the exit code 1."""
    level: Annotated[
        float, Field(gt=0, lt=1), Option("Chance of any false alarm (default {default}).", "P", "Verdict")
    ] = 0.05
    """Family-wise error rate over all pieces, columns and statistics."""
    min_effect: Annotated[
        SmallShare | None,
        Option("Smallest effect worth a verdict (default 0.05).", "D", "Verdict"),
    ] = None
    """Smallest effect worth a verdict, of every kind that has no bound of its own; None is 0.05 for distances of
    columns (KS, total variation) and for the joint distribution, 0.02 for missing rates, 0.1 for the model."""
    min_effect_missing: Annotated[SmallShare | None, Option("Of missing rates (default 0.02).", "D", "Verdict")] = None
    """Smallest difference of missing rates worth a verdict; None is `min_effect`, and 0.02 where that is None, too."""
    min_effect_joint: Annotated[
        SmallShare | None, Option("Of the joint distribution (default 0.05).", "D", "Verdict")
    ] = None
    """Smallest effect on the joint distribution of all columns worth a verdict; None is `min_effect`, and 0.05 where
    that is None, too."""
    min_effect_model: Annotated[NotNegative | None, Option("On the model (default 0.1).", "D", "Verdict")] = None
    """Smallest effect on the model worth a verdict, relative to the reference; None is `min_effect`, and 0.1 where that
    is None, too."""
    min_effect_of: Annotated[
        tuple[str, ...],
        Option("Of single columns; * and ? are wildcards.", "COL=D,..", "Verdict", after="min_effect_model"),
    ] = ()
    """Smallest effect of single columns worth a verdict, COL=D each, of every kind: of the values, the missing rate and
    the levels. COL may hold the wildcards * and ?; a column's own name goes first, then the first pattern."""
    monitor: Annotated[
        tuple[str, ...],
        Option("Columns that are tested and never fail (likewise).", "COL,..", "Verdict", after="min_effect_of"),
    ] = ()
    """Columns that are tested and reported, and never make a verdict, by name or with the wildcards * and ?. They count
    in the correction for many tests; the joint distribution and the reference model do not see them."""
    equivalence: Annotated[
        Annotated[float, Field(gt=0, lt=1)] | None,
        Option("Ask for proof that all effects are below D.", "D", "Verdict", after="monitor"),
    ] = None
    """Effect that every column, missing rate and the target are to be shown to be below, with confidence 1 - level. A
    piece for which the data show it is `equivalent`; any other that is not shifted is inconclusive, and fails unless
    --fail-on is given. The joint distribution and the model are not part of it."""
    gamma: Annotated[NotNegative | None, Option("Raw threshold of the paper's tau.", "TAU", "Verdict")] = None
    """Raw threshold of Eq. 14's tau, for those who want the paper's rule."""
    draws: Annotated[
        Annotated[int, Field(ge=99, le=1_000_000)] | Literal["auto"],
        Option("Permutations of the null (default {default}).", "B", "Verdict"),
    ] = "auto"
    """Permutations of the null. `auto` draws 999, and on a small table 9,999 where they leave the verdict of a piece in
    doubt, so that the same rows rarely get another verdict by another seed."""
    block: Annotated[
        Annotated[int, Field(ge=1)] | Literal["auto"],
        Option("Rows that move together in the null (default {default}).", "L", "Verdict"),
    ] = "auto"
    """Consecutive rows that move together in the null, for streams whose rows depend on each other. `auto` measures the
    dependence within batches or pieces of time and chooses the length, keeps equal times together, and means single
    rows for all other pieces; 1 is single rows whatever they are like."""
    seed: Seed = 0
    """Seed of the draws, and of shuffled folds, invented clients and noise. What is learned from the pooled rows before
    labels are permuted, the contrast forest and the reference model, has a fixed seed, so that no verdict can be had by
    trying seeds."""
    jobs: Jobs = 1
    """Processor cores for the contrast forest; never changes a number."""

    @property
    def first_draws(self) -> int:
        """Permutations that every table gets."""
        return DRAWS if self.draws == "auto" else self.draws

    @model_validator(mode="after")
    def _one_way(self) -> AuditSettings:
        if self.clients.by is not None:
            raise ValueError("pieces of an audit by a column's values are those of --by: set cut.by, not clients.by")
        if self.cut.mix_time:
            raise ValueError("mix_time says what models learn from, and an audit trains none: leave it out")
        if self.clients.clients is not None and self.cut.ways:
            raise ValueError(f"choose one way to cut, not 2: --clients, --{self.cut.ways[0].replace('_', '-')}")
        if self.clients.clients is not None and (self.cut.splitter is not None or self.cut.shuffle):
            raise ValueError("--splitter and --shuffle go with --folds, not with --clients")
        if self.cut.one_piece and not self.other_files:
            raise ValueError(
                f"{self.cut.one_piece} makes one piece, and there is nothing to compare it with: must be 2 or more, or "
                "name another file with --reference FILE"
            )
        if self.equivalence is not None and self.gamma is not None:
            raise ValueError("--gamma is a raw threshold without an error rate: it cannot show --equivalence")
        if self.equivalence is not None and self._pieces_asked_for:
            problem = too_few_draws(self.first_draws, level=self.level, pieces=self._pieces_asked_for)
            if problem:
                raise ValueError(problem)
        if self.model != "auto" and not self.own:
            raise ValueError(f"--model {self.model}: the reference model of an audit is auto, or FILE.py:FUNCTION")
        if self.strict_schema and not self.other_files:
            raise ValueError("--strict-schema compares columns with those of another file: give --reference FILE")
        if self.cut.one_piece and (self.cut.splitter is not None or self.cut.shuffle):
            raise ValueError(
                f"--splitter and --shuffle make folds, and {self.cut.one_piece} makes none: must be 2 or more"
            )
        return self

    @property
    def _pieces_asked_for(self) -> int:
        """Pieces that have a reference, where the settings say how many are cut; else 0."""
        cut = self.clients.clients or self.cut.folds or self.cut.batches or 0
        in_order = self.reference is None and self.cut.batches is not None
        # the first of a sequence has none before it, and a piece is no reference of its own
        return cut - (in_order or self.reference in ("previous", "first")) if cut > 1 else cut

    @field_validator("min_effect_of")
    @classmethod
    def _bounds(cls, pairs: tuple[str, ...]) -> tuple[str, ...]:
        for pair in pairs:
            name, _, bound = pair.rpartition("=")
            try:
                fine = bool(name.strip()) and 0 <= float(bound) < 1
            except ValueError:
                fine = False
            if not fine:
                raise ValueError(f"--min-effect-of {pair}: must be COL=D with 0 <= D < 1, such as age=0.2")
        return pairs

    @property
    def column_bounds(self) -> tuple[tuple[str, float], ...]:
        """Names or patterns of columns, and the smallest effect of each; infinite where they are monitored."""
        own = [pair.rpartition("=") for pair in self.min_effect_of]
        bounds = [(name.strip(), float(bound)) for name, _, bound in own]
        return (*((name, math.inf) for name in self.monitor), *bounds)

    def smallest_among(self, names: Iterable[str]) -> SmallestEffects:
        """The smallest effects worth a verdict, by kind, and of those columns that have one of their own.

        Args:
            names: of the columns.
        """
        found = {name: bound_of(name, self.column_bounds) for name in names} if self.column_bounds else {}
        return replace(self.smallest, columns={name: bound for name, bound in found.items() if bound is not None})

    def monitored_among(self, names: Collection[str]) -> frozenset[str]:
        """The columns that are tested and never make a verdict.

        Args:
            names: of the columns.
        """
        smallest = self.smallest_among(names)
        return frozenset(name for name in names if smallest.monitors(name))

    @property
    def smallest(self) -> SmallestEffects:
        """The smallest effects worth a verdict, by kind."""
        own = {
            "distance": None, "missing": self.min_effect_missing, "joint": self.min_effect_joint,
            "model": self.min_effect_model,
        }  # fmt: skip
        given = {kind: self.min_effect if bound is None else bound for kind, bound in own.items()}
        filled: dict[str, Any] = {kind: bound for kind, bound in given.items() if bound is not None}
        return SmallestEffects(**filled)

    @property
    def keys(self) -> Keys:
        """Columns that cut the table, and are no covariates."""
        return self.cut.keys

    @property
    def other_files(self) -> tuple[str, ...]:
        """Other files that are read like the data: the one that `reference` names."""
        return () if self.reference is None or self.reference in REFERENCES else (self.reference,)


def too_few_draws(draws: int, *, level: float, pieces: int) -> str:
    """The sentence on draws so few that `equivalence` cannot be shown: none bounds an effect; empty if one does.

    Args:
        draws: B.
        level: chance that a piece is wrongly called equivalent, over all pieces.
        pieces: those that are tested, at least 1.
    """
    if level / pieces * (draws + 1) + 1e-9 >= 1:
        return ""
    return (
        f"--draws {draws} are too few for --equivalence with {pieces} pieces at level {level:g}: must be at least "
        f"{math.ceil(pieces / level - 1e-9) - 1}"
    )
