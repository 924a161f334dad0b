"""`[tool.picsc]` of pyproject.toml: settings of a whole project. Torch-free.

Keys directly under `[tool.picsc]` hold for every verb that has them; `[tool.picsc.audit]` and its like hold for one
verb, spelled as in a recipe. `min-effect` and `min_effect` are the same key.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from picsc.errors import RecipeError
from picsc.settings import KINDS, REFERENCES, VerbSettings
from picsc.settings.layers import Layer
from picsc.settings.problems import Problem
from picsc.settings.recipe import Recipe
from picsc.settings.spelling import Spelling, built, section_of, sentence, spelled

NAME = "pyproject.toml"
_TOP = ("tool", "picsc")
_ALL = tuple(KINDS.values())
_HEADER = re.compile(r"\s*\[([^\[\]]+)\]")
_KEY = re.compile(r"""\s*["']?([\w.-]+)["']?\s*=""")


class AuditOutcome(BaseModel):
    """Reports and exit codes in `[tool.picsc.audit]`: the options of the same names."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    output: tuple[str, ...] | str | None = None
    """As `--output` takes them."""
    fail_on: Literal["shift", "inconclusive", "never"] | None = None
    baseline: Path | None = None
    """Relative to the folder of pyproject.toml."""
    exit_zero: bool | None = None

    @property
    def outputs(self) -> list[str]:
        """Values of `output`, one per report."""
        return [self.output] if isinstance(self.output, str) else list(self.output or ())


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """Settings of a project, checked one by one."""

    path: Path
    shown: str
    """The path as messages show it: relative to the working folder where it is in it."""
    common: Mapping[str, object]
    verbs: Mapping[str, Mapping[str, object]]
    outcome: AuditOutcome

    @property
    def jobs(self) -> int | None:
        """Processes of all commands."""
        jobs = self.common.get("jobs")
        return jobs if isinstance(jobs, int) else None

    @property
    def engine(self) -> str | None:
        """Engine of all commands."""
        engine = self.common.get("engine")
        return engine if isinstance(engine, str) else None

    def layers(self, verb: str) -> tuple[Layer, ...]:
        """Layers of a verb, the general before the particular."""
        kind = KINDS[verb]
        general = _known(spelled(self.common, kind, hyphens=True).values, kind)
        return (Layer(self.shown, general), Layer(self.shown, self.verbs.get(verb, {})))


def project_file(start: Path) -> ProjectFile | None:
    """Find and check the settings of the project that a folder belongs to.

    Args:
        start: the working folder. The first pyproject.toml with `[tool.picsc]`, from there upward, is used.

    Returns:
        None where there is none.

    Raises:
        RecipeError: it cannot be read or is no TOML, an unknown key, a value of a wrong type or out of range; all
            problems at once.
    """
    for folder in (start, *start.parents):
        path = folder / NAME
        if path.is_file():
            shown = NAME if folder == start else str(path)
            text = _text(path, shown)
            table = _table(text, shown) if "picsc" in text else None
            if table is not None:
                return _checked(path, shown, text, table)
    return None


def _text(path: Path, shown: str) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        why = error.strerror or str(error)
        raise RecipeError((f"{shown}: cannot be read ({why}); --isolated leaves it out",)) from None
    except UnicodeDecodeError as error:
        raise RecipeError((f"{shown}: is not UTF-8 at byte {error.start + 1}; --isolated leaves it out",)) from None


def _table(text: str, shown: str) -> object:
    """`[tool.picsc]`; None where there is none."""
    try:
        tool = tomllib.loads(text).get("tool")
    except (tomllib.TOMLDecodeError, ValueError, RecursionError) as error:
        reason = re.sub(r"\('[^()]*'\)", lambda names: ".".join(re.findall("'([^']*)'", names[0])), str(error))
        raise RecipeError((f"{shown}: is no TOML: {reason}; --isolated leaves it out",)) from None
    return tool.get("picsc") if isinstance(tool, dict) else None


def _checked(path: Path, shown: str, text: str, table: object) -> ProjectFile:
    if not isinstance(table, dict):
        raise RecipeError((f"{shown}: tool.picsc must be a table: [tool.picsc]",))
    lines = _lines(text)
    sentences: list[tuple[int, str]] = []

    def report(problem: Problem, kind: type[BaseModel], prefix: tuple[str, ...], others: tuple[str, ...] = ()) -> None:
        elsewhere = _elsewhere(problem, prefix) if problem.unknown else ""
        dotted = ".".join(prefix) + "."
        line = lines.get(".".join((*prefix, *(part for part in problem.path if isinstance(part, str)))), 0)
        where = f"{shown}:{line}" if line else shown
        text = f"{dotted}{problem.key}{elsewhere}" if elsewhere else sentence(problem, kind, others, prefix=dotted)
        sentences.append((line, f"{where}: {text}"))

    common = {key: value for key, value in table.items() if key not in KINDS}
    for problem, kind in _of_common(common):
        report(problem, kind, _TOP, (*KINDS, *(name for one in _ALL for name in one.model_fields)))
    verbs: dict[str, Mapping[str, object]] = {}
    outcome = AuditOutcome()
    for verb, kind in KINDS.items():
        own = table.get(verb, {})
        if not isinstance(own, dict):
            report(Problem((verb,), own, f"a table: [tool.picsc.{verb}]"), kind, _TOP)
            continue
        outer = set(AuditOutcome.model_fields) if verb == "audit" else set()
        outside = {key.replace("-", "_"): value for key, value in own.items() if key.replace("-", "_") in outer}
        made, wrong = built(AuditOutcome, outside)
        names = {key.replace("-", "_"): key for key in own}
        wrong = [replace(one, path=(names[str(one.path[0])], *one.path[1:])) for one in wrong]
        if made is not None and verb == "audit":
            outcome = made.model_copy(update={"baseline": made.baseline and path.parent / made.baseline})
        spelling = spelled({key: own[key] for key in own if key.replace("-", "_") not in outer}, kind, hyphens=True)
        wrong += _problems(spelling, kind)
        for problem in wrong:
            report(problem, kind, (*_TOP, verb), tuple(outer))
        verbs[verb] = next_to(spelling.values, path.parent)
    if sentences:
        raise RecipeError(tuple(sentence for _, sentence in sorted(sentences, key=lambda one: one[0])))
    return ProjectFile(path, shown, next_to(common, path.parent), verbs, outcome)


def _elsewhere(problem: Problem, table: tuple[str, ...]) -> str:
    """Where a key belongs that has no place in this table, as a sentence goes on; nothing where that is not known."""
    name = str(problem.path[0]).replace("-", "_")
    if len(problem.path) > 1:
        return ""
    if name in Recipe.model_fields:
        return " is a key of recipes and none of a project; leave it out"
    return " goes into [tool.picsc.audit]" if name in AuditOutcome.model_fields and table != (*_TOP, "audit") else ""


def _problems(spelling: Spelling, kind: type[VerbSettings]) -> list[Problem]:
    """Problems of single values; values that contradict each other are found when all places are joined."""
    _, wrong = built(kind, spelling.values)
    single = [replace(one, path=spelling.as_written(one.path)) for one in wrong if not one.contradiction]
    return [*spelling.problems, *single]


def _of_common(common: Mapping[str, object]) -> Iterator[tuple[Problem, type[VerbSettings]]]:
    """Keys that no verb knows, and values that are wrong for every verb that knows their key."""
    wrong = {kind: {one.path: one for one in _problems(spelled(common, kind, hyphens=True), kind)} for kind in _ALL}
    for path in dict.fromkeys(path for found in wrong.values() for path in found):
        if all(any(path[:length] in found for length in range(1, len(path) + 1)) for found in wrong.values()):
            there = [(found[path], kind) for kind, found in wrong.items() if path in found]
            yield min(there, key=lambda one: one[0].unknown)


def _known(values: Mapping[str, object], kind: type[BaseModel]) -> dict[str, object]:
    """The values that a verb has."""
    found: dict[str, object] = {}
    for name, value in values.items():
        section = section_of(kind, name)
        if section is not None and isinstance(value, Mapping):
            found[name] = _known(value, section)
        elif name in kind.model_fields:
            found[name] = value
    return found


def next_to(values: Mapping[str, object], folder: Path) -> dict[str, object]:
    """Settings whose file of reference is relative to the file that names it.

    Args:
        values: of `audit`, or of any verb.
        folder: of that file.
    """
    reference = values.get("reference")
    if isinstance(reference, str) and reference not in REFERENCES:
        return {**values, "reference": str(folder / reference)}
    return dict(values)


def _lines(text: str) -> dict[str, int]:
    """Line of every key that is written plainly, by its dotted path; what is written otherwise has none."""
    found: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        header, key = _HEADER.match(line), _KEY.match(line)
        if header:
            table = ".".join(part.strip().strip("\"'") for part in header[1].split("."))
            found.setdefault(table, number)
        elif key:
            found.setdefault(f"{table}.{key[1]}", number)
    return {name.replace("-", "_"): number for name, number in found.items()} | found
