"""Sentences about options as sentences about the keywords of a Python verb: `--folds 1` is `folds=1`.

All packages name a setting by its option, as the command line does. A call from Python sees the same sentence with
keywords, by the table of the verb's settings; options that are no setting, such as `--resume`, stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Literal, get_args, get_origin

from pydantic import BaseModel

from picsc.errors import PicscError
from picsc.settings.option import Setting, settings_of

FUNCTIONS = {"audit": "audit", "cv": "cross_validate", "compare": "compare", "fed": "federate"}
"""The Python verb of each command."""
_OPTION = re.compile(r"(?<![\w'\"-])(--[a-z][a-z-]*)(?![\w-])")
_COMMAND = re.compile(rf"\bpicsc ({'|'.join(FUNCTIONS)}) (?=--)")
_GIVEN = re.compile(
    r" ('[^']*'|\"[^\"]*\"|[^\s,;:()']*\d[^\s,;:()']*(?=[\s;:)]|$)|[^\s,;:()']+(?:, [^\s,;:()']+)*(?=[:;)]| \(|$))"
)
"""A value of free text: in quotation marks, with a digit in it, or all that is left of the clause, without blanks."""
_NUMBER = re.compile(r" ([-+]?[\d.]+(?:[eE][-+]?\d+)?)\b")
_PLACE = re.compile(r" ([A-Z]+)\b")
"""What stands for a value: `--time COL`."""


@contextmanager
def in_keywords(kind: type[BaseModel], verb: str) -> Iterator[None]:
    """Let errors that are raised inside speak of keywords.

    Args:
        kind: settings of the verb.
        verb: audit, cv, compare or fed.

    Raises:
        PicscError: the one that was raised, with options spelled as keywords.
    """
    try:
        yield
    except PicscError as error:
        error.args = (with_keywords(str(error), kind, verb), *error.args[1:])
        raise


def with_keywords(sentence: str, kind: type[BaseModel], verb: str) -> str:
    """A sentence with the verb's options spelled as keywords.

    Args:
        sentence: about options; what is in quotation marks stays.
        kind: settings of the verb.
        verb: audit, cv, compare or fed.
    """
    by_flag = _by_flag(kind, verb)
    sentence = _COMMAND.sub(lambda found: f"picsc.{FUNCTIONS[found[1]]} with ", sentence)
    text, at = "", 0
    for found in _OPTION.finditer(sentence):
        setting = by_flag.get(found[1])
        if setting is None or found.start() < at:
            continue
        text += sentence[at : found.start()]
        spelled, at = _spelled(setting, found[1], sentence, found.end())
        text += spelled
    return text + sentence[at:]


@cache
def _by_flag(kind: type[BaseModel], verb: str) -> dict[str, Setting]:
    """The settings by their options; a switch that turns something off is known by its opposite, too."""
    settings = list(settings_of(kind, verb))
    plain = {"--" + each.path[-1].replace("_", "-"): each for each in settings if each.is_switch}
    opposites = {each.option.opposite: each for each in settings if each.option.opposite}
    return plain | opposites | {each.flag: each for each in settings}


def _spelled(setting: Setting, flag: str, sentence: str, end: int) -> tuple[str, int]:
    """The keyword with its value, if one follows, and the place behind both."""
    name = setting.keyword
    if setting.is_switch:
        off = setting.option.opposite
        turned = setting.option.turns if flag == setting.flag else not setting.option.turns if flag == off else True
        return f"{name}={turned}", end
    for pattern in (_NUMBER, _PLACE):
        found = pattern.match(sentence, end)
        if found:
            return f"{name}={found[1]}", found.end()
    choice = re.compile(r" ([\w.-]+)").match(sentence, end)
    if choice and choice[1] in _choices(setting.info.annotation):
        return f"{name}={_value(setting, choice[1])}", choice.end()
    given = _GIVEN.match(sentence, end)
    if given:
        return f"{name}={_value(setting, given[1])}", given.end()
    return f"{name}=", end


def _value(setting: Setting, text: str) -> str:
    """A value as Python spells it."""
    values = [each if each[0] in "'\"" else repr(each) for each in text.split(", ")]
    return f"[{', '.join(values)}]" if setting.is_list else ", ".join(values)


def _choices(annotation: object) -> set[str]:
    """The words that a setting chooses from."""
    if get_origin(annotation) is Literal:
        return {str(each) for each in get_args(annotation)}
    return {word for part in get_args(annotation) for word in _choices(part)}
