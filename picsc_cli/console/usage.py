"""Messages for words that a command does not know: one sentence each, the same for every version of Typer.

Typer's own messages come from the library that reads numbers for it. A message here has the form of all others in
picsc: the option, its value, and what it must be.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer

from picsc_cli.console.streams import warn

_USAGE: type[Exception] = typer.BadParameter.__mro__[1]
"""The error that Typer raises for words that it cannot use; newer versions have classes of their own, not click's."""
_CHOICE = "is not one of "


@contextmanager
def one_sentence(ctx: Any, words: Sequence[str]) -> Iterator[None]:
    """Report what is wrong with the words of a command in one sentence, and exit with 2.

    Args:
        ctx: Typer's context of the command.
        words: the words after the command.
    """
    given = list(words)
    try:
        yield
    except _USAGE as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # a command that shows its help
            raise
        warn(_sentence(error, ctx, given))
        raise typer.Exit(2) from None


def _sentence(error: Any, ctx: Any, words: Sequence[str]) -> str:
    command, kind = ctx.command_path, type(error).__name__
    option = str(getattr(error, "option_name", ""))
    if kind == "NoSuchOption":
        return f"{command} has no option {option}{_instead(option, ctx)}"
    if kind == "BadOptionUsage":
        known = _option(option, ctx)
        if known is not None and known.is_flag:
            return f"{option} takes no value"
        return f"{option} needs a value, as in {option} {known.metavar if known is not None else 'VALUE'}"
    parameter = getattr(error, "param", None)
    if kind == "MissingParameter" and parameter is not None:
        name = (parameter.metavar or parameter.name).removesuffix("...")
        return f"{command} needs {name}; {command} --help shows how"
    if kind == "BadParameter" and parameter is not None:
        return f"{_given(parameter, words)}: must be {_bound(error.message)}"
    commands = getattr(ctx.command, "commands", None)
    if commands is not None and words and words[0] not in commands:
        return f"{command} has no command {words[0]!r}{_near(words[0], commands)}"
    message = " ".join(error.format_message().split()).rstrip(".")
    if "unexpected extra argument" in message:
        return (
            f"{command} has no use for {message[message.rfind('(') + 1 : -1]!r}; {command} --help shows what it takes"
        )
    return f"{command}: {message[:1].lower()}{message[1:]}; {command} --help shows what it takes"


def _instead(option: str, ctx: Any) -> str:
    """The option that was meant, the commands that have it, or where all are listed."""
    near = difflib.get_close_matches(option, _options(ctx.command), n=2, cutoff=0.75)
    if near:
        return f"; did you mean {' or '.join(near)}?"
    root = ctx.find_root()
    owners = [name for name, command in getattr(root.command, "commands", {}).items() if option in _options(command)]
    if owners:
        return f", which is one of picsc {', '.join(owners)}; {ctx.command_path} --help lists its own"
    return f"; {ctx.command_path} --help lists them"


def _near(word: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(word, known, n=1)
    return f"; did you mean {near[0]}?" if near else f"; it has {', '.join(known)}"


def _options(command: Any) -> list[str]:
    return [name for parameter in command.params for name in parameter.opts if name.startswith("--")]


def _option(name: str, ctx: Any) -> Any | None:
    return next((each for each in ctx.command.params if name in each.opts), None)


def _given(parameter: Any, words: Sequence[str]) -> str:
    """The option and its value as they were written; the last one counts."""
    for i in range(len(words) - 1, -1, -1):
        name, sign, value = words[i].partition("=")
        if name in parameter.opts:
            return f"{name} {(value if sign else words[i + 1] if i + 1 < len(words) else '')!r}"
    return str(parameter.opts[0])


def _bound(message: str) -> str:
    if _CHOICE in message:
        return " or ".join(", ".join(re.findall(r"'([^']*)'", message.partition(_CHOICE)[2])).rsplit(", ", 1))
    return "a whole number" if "integer" in message else "a number" if re.search("float|number", message) else message
