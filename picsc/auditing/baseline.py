"""Baseline: a small text file of accepted shifts, with which later audits are compared: only new or worse ones fail.

The file holds, for every shifted piece, what moved in it and by how much. It holds no p-value and no time; it is sorted
and effects are rounded outward, so that the same rows in another order give the same bytes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from picsc.errors import SettingsError
from picsc.phrases import listed
from picsc.reports.audit import AuditReport, FragmentReport, Standing
from picsc.reports.common import DataInfo, Finding
from picsc.settings import Settings
from picsc.settings.problems import problems

SCHEMA: Literal["picsc.baseline/1"] = "picsc.baseline/1"
JOINT, TREND, MODEL = "joint distribution", "trend", "model"
"""Names of what can move besides single columns, whose names are kind and column: `numeric age`, `missing age`, or
`KL of age` where the column's KL alone shows it."""
SLACK = 1e-9
"""Effects that differ by less are equal: rows in another order change the last bits of a sum."""
_REWRITE = "write a new one with --write-baseline"
_NAMES = 3
"""Most pieces, or moved columns, named in a sentence."""


class KnownPiece(Settings):
    """One shifted piece of a baseline."""

    rows: Annotated[int, Field(ge=1, strict=True)]
    """Rows of the piece when it was accepted."""
    moved: dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False, strict=True)]]
    """From the name of what moved to its effect, rounded outward."""


class KnownFile(Settings):
    """The shifted pieces of one file."""

    cut: Annotated[str, Field(strict=True)]
    """The cut and the reference of its pieces, in words."""
    pieces: dict[str, KnownPiece]
    """Shifted pieces, by name."""


class _Content(Settings):
    schema_: Annotated[Literal["picsc.baseline/1"], Field(alias="schema")]
    files: dict[str, KnownFile]


@dataclass(frozen=True, slots=True)
class Baseline:
    """The accepted shifts of some files."""

    path: str
    """Path of the baseline file, as it was given."""
    files: Mapping[str, KnownFile]
    """Files by base name, after as many folders as it takes to make the names of all files differ."""


@dataclass(frozen=True, slots=True)
class _Comparison:
    """A shifted piece compared with its entry in the baseline."""

    standing: Standing
    change: str
    """Description of what is new or worse in a piece that the baseline has; "" when nothing is."""


def baseline_text(reports: Sequence[AuditReport]) -> str:
    """The shifts of these audits as the text of a baseline file.

    Args:
        reports: one per file; of two audits of one file, the last counts.

    Returns:
        JSON, one entry per line, sorted by file, piece and name; ends with a line feed.
    """
    depth = _depth([_parts(report.data) for report in reports])
    files = {"/".join(_parts(report.data)[-depth:]): _known_file(report) for report in reports}
    content = {"schema": SCHEMA, "files": files}
    return json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def read_baseline(path: Path | str) -> Baseline:
    """Read a baseline file.

    Raises:
        SettingsError: there is no such file, or it is no baseline; one sentence.
    """
    try:
        text = Path(path).read_bytes().decode("utf-8")
    except (OSError, ValueError) as error:  # an impossible path, or bytes that are no text
        why = error.strerror if isinstance(error, OSError) and error.strerror else "it is no UTF-8 text"
        raise SettingsError(f"baseline {path} cannot be read: {why}; {_REWRITE}") from None
    if not text.strip():
        raise SettingsError(f"baseline {path} is empty; {_REWRITE}")
    try:
        found = json.loads(text, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}: {error.msg}"
        raise SettingsError(f"baseline {path} is no JSON ({where}); {_REWRITE}") from None
    except (ValueError, RecursionError) as error:  # a repeated key, thousands of digits, or thousands of brackets
        raise SettingsError(f"baseline {path} is no JSON that picsc writes ({error}); {_REWRITE}") from None
    schema = found.get("schema") if isinstance(found, dict) else None
    if schema != SCHEMA:
        its = "it has no schema" if schema is None else f"its schema is {_short(schema)}"
        raise SettingsError(f"baseline {path} is no {SCHEMA} file, {its}; {_REWRITE}")
    try:
        content = _Content.model_validate(found)
    except ValidationError as error:
        problem = problems(error, found)[0]
        key = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in problem.key)
        what = f"{key} is {_short(problem.value)}, and must be {problem.requirement}"
        what = f"{key} is missing" if problem.value is None and problem.requirement == "given" else what
        what = f"{key} is not known" if problem.unknown else what
        raise SettingsError(f"baseline {path} does not fit its schema: {what}; {_REWRITE}") from None
    return Baseline(str(path), content.files)


def compare_with_baseline(report: AuditReport, baseline: Baseline) -> AuditReport:
    """Compare every shifted piece with the baseline.

    A shift is `new` if the baseline does not have the piece, or if something moved in it that the baseline does not
    have, by more than the noise band; `worse` if something moved farther than it did, by more than the noise band; else
    `known`. The noise band is that of a difference between two independent tables: at n rows now and m rows then, the
    null's own band at n rows times sqrt(1 + n / m). On the same data nothing exceeds its entry, whatever the band.

    Args:
        report: report of an audit that was not yet compared.
        baseline: baseline that was written for the same cut.

    Returns:
        The report with standings, the name of the baseline, a summary that counts both kinds, and a finding where
        pieces of the baseline are no longer shifted.

    Raises:
        SettingsError: the baseline was made with another cut.
    """
    known = _of_file(report.data, baseline)
    if known is not None and known.cut != _cut(report):
        raise SettingsError(
            f"baseline {baseline.path} holds the shifts of {report.data.source} for another cut ({known.cut}) than "
            f"this one ({_cut(report)}); cut as the baseline does, or {_REWRITE}"
        )
    pieces = {} if known is None else known.pieces
    fragments = tuple(
        _with_standing(fragment, pieces.get(fragment.name), report) if fragment.verdict == "shift" else fragment
        for fragment in report.fragments
    )
    compared = replace(
        report,
        baseline=baseline.path,
        fragments=fragments,
        findings=(*report.findings, *_outdated(pieces, report, baseline.path)),
    )
    return replace(compared, summary=_summary(compared))


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object whose keys differ; a careless merge can leave two entries of one piece."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {_short(next(name for name in names if names.count(name) > 1))} occurs twice")
    return found


def _short(value: object) -> str:
    """The value as it is quoted in a sentence, shortened."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _parts(data: DataInfo) -> tuple[str, ...]:
    """Folders and base name of a file; the name alone of what came from elsewhere."""
    path = PurePath(data.source)
    return path.parts if path.name.startswith(data.name) else (data.name,)


def _depth(paths: Sequence[tuple[str, ...]]) -> int:
    """Fewest last parts by which all paths differ."""
    different = len(set(paths))
    longest = max((len(path) for path in paths), default=1)
    return next((d for d in range(1, longest) if len({path[-d:] for path in paths}) == different), longest)


def _of_file(data: DataInfo, baseline: Baseline) -> KnownFile | None:
    """The entry whose name is the longest end of the file's path."""
    parts = _parts(data)
    ends = ("/".join(parts[i:]) for i in range(len(parts)))
    return next((baseline.files[end] for end in ends if end in baseline.files), None)


def _known_file(report: AuditReport) -> dict[str, object]:
    pieces = {
        fragment.name: {
            "rows": fragment.rows,
            "moved": {name: _outward(name, effect) for name, effect in _kept(fragment, report)},
        }
        for fragment in report.shifted
    }
    return {"cut": _cut(report), "pieces": pieces}


def _kept(fragment: FragmentReport, report: AuditReport) -> Iterator[tuple[str, float]]:
    """Names and effects of what moved, and the model question's effect even where it was not significant.

    Any shift of the data moves the model a little; without the effect, a later significant one would look new.
    """
    yield from _moved(fragment, report)
    if fragment.cell == "data only" and fragment.effect_model:
        yield MODEL, fragment.effect_model


def _outward(name: str, effect: float) -> float:
    """The next number of few digits that is not below the effect.

    A distance of a column has two decimals. What also depends on the order of the rows, through the draws and the
    classifier's halves, has one, or two digits.
    """
    coarse = name in (JOINT, MODEL)
    decimals = 2 - coarse - max(0, math.floor(math.log10(max(effect, 1.0))))
    step = 10.0**-decimals
    return round(math.ceil((effect - SLACK) / step) * step, max(decimals, 0))


def _cut(report: AuditReport) -> str:
    """The cut in words that new rows do not change: no number of values or of periods."""
    cut, clients = (_settings(report, name) for name in ("cut", "clients"))
    if cut.get("by") is not None:
        words = f"one piece for each value of {cut['by']}"
    elif cut.get("time") is not None:
        parts = [
            f"{cut['cuts']} pieces" if cut.get("cuts") else "",
            f"every {cut['every']}" if cut.get("every") else "",
            f"gap {cut['gap']}" if cut.get("gap") else "",
        ]
        words = ", ".join([f"by time {cut['time']}", *filter(None, parts)])
    else:
        drawn = cut.get("shuffle") or cut.get("splitter") in ("dob-scv", "ms-scv") or clients.get("clients")
        words = report.pieces + (f", seed {report.settings.get('seed')}" if drawn else "")
    return f"{words}, reference {report.reference}"


def _settings(report: AuditReport, name: str) -> Mapping[str, object]:
    found = report.settings.get(name)
    return found if isinstance(found, dict) else {}


def _moved(fragment: FragmentReport, report: AuditReport) -> Iterator[tuple[str, float]]:
    """Names and effects of what moved in a shifted piece.

    The joint distribution is named only where no column is significant: a classifier's score depends on the order of
    the rows, and a shift that a column shows need not be reported twice.
    """
    named = False
    for column in fragment.columns:
        effect = column.effect(report.level)
        if column.moved(report.level) and effect >= report.min_effects.of_column(column.name, column.kind):
            named = named or column.kind != "target"
            yield f"{'KL of' if column.by_kl(report.level) else column.kind} {column.name}", effect
    if fragment.cell in ("data only", "both") and not named:
        yield TREND if fragment.statistic_data == "trend" else JOINT, fragment.effect_data or 0.0
    if fragment.cell in ("model only", "both"):
        yield MODEL, fragment.effect_model or 0.0


def _with_standing(fragment: FragmentReport, known: KnownPiece | None, report: AuditReport) -> FragmentReport:
    compared = _Comparison("new", "") if known is None else _compared(fragment, known, report)
    reason = f"{fragment.reason}; {compared.change}" if compared.change else fragment.reason
    return replace(fragment, standing=compared.standing, reason=reason)


def _compared(fragment: FragmentReport, known: KnownPiece, report: AuditReport) -> _Comparison:
    """Compare a piece that the baseline has with its entry."""
    wider = math.sqrt(1 + fragment.rows / known.rows)
    beyond: dict[Standing, list[str]] = {"new": [], "worse": []}
    for name, effect in _moved(fragment, report):
        noise = fragment.noise_model if name == MODEL else fragment.noise_data
        band = wider * (noise or 0.0)
        before = known.moved.get(name)
        if effect > (before or 0.0) + band + SLACK:
            was = "" if before is None else f" (was {before:.2f}, noise {band:.2f})"
            beyond["new" if before is None else "worse"].append(f"{name} {effect:.2f}{was}")
    if beyond["new"]:
        return _Comparison("new", f"not in the baseline: {listed(beyond['new'], _NAMES)}")
    if beyond["worse"]:
        return _Comparison("worse", f"worse than in the baseline: {listed(beyond['worse'], _NAMES)}")
    return _Comparison("known", "")


def _outdated(pieces: Mapping[str, KnownPiece], report: AuditReport, path: str) -> Iterator[Finding]:
    """Note pieces of the baseline that are no longer shifted; those that are inconclusive now are left out."""
    now = {fragment.name: fragment.verdict for fragment in report.fragments}
    over = [name for name in sorted(pieces) if now.get(name, "ok") == "ok"]
    if over:
        yield Finding(
            "baseline-outdated",
            "note",
            f"{len(over)} of {len(pieces)} pieces in {path} are no longer shifted: {listed(over, _NAMES)}",
            "rewrite it with --write-baseline, so that their shift would be new again",
            tuple(name for name in over if name in now),
        )


def _summary(report: AuditReport) -> tuple[str, str, str]:
    """The three summary lines, with the counts of new, worse and known pieces; the worst piece is one that fails."""
    first, second, third = report.summary
    shifted, failing = report.shifted, report.failing
    if not shifted:
        return report.summary
    if not failing:
        each = {1: "known", 2: "both known"}.get(len(shifted), f"all {len(shifted)} known")
        nothing = "next: nothing is new or worse; when a known shift is mended, rewrite the baseline (--write-baseline)"
        return f"{first}, {each} to {report.baseline}", second, nothing
    kinds: tuple[Standing, ...] = ("new", "worse", "known")
    counts = [(kind, sum(fragment.standing == kind for fragment in shifted)) for kind in kinds]
    counted = ", ".join(f"{count} {kind}" for kind, count in counts if count)
    worst = max(failing, key=lambda fragment: fragment.size)
    other = f"worst of those new or worse: {worst.in_words}"
    worst_line = second if second.startswith(f"worst: {worst.name} - ") and worst.standing == "new" else other
    return f"{first} ({counted} beside {report.baseline})", worst_line, third
