"""A page of HTML from its content: one file that needs nothing else, no script, no font and no link.

Templates escape all text; what cannot be seen is shown escaped as well, so that names from data stay harmless.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from picsc.phrases import printable
from picsc.reports.pages.glossary import explained
from picsc.reports.pages.markup import cut, xml_document

if TYPE_CHECKING:
    from jinja2 import Environment

    from picsc.reports.pages.blocks import Content

_LONGEST_TITLE = 120


def page(contents: Sequence[Content]) -> str:
    """A whole document.

    Args:
        contents: the reports on it, at least one.
    """
    title = "; ".join(f"{each.title}: {each.verdict}" for each in contents[:3])
    text = (
        _environment()
        .get_template("page.html.j2")
        .render(title=cut(f"picsc - {title}", _LONGEST_TITLE), style=_style(), body=_markup(_body(contents, 1)))
    )
    return xml_document(text)


def body(contents: Sequence[Content]) -> str:
    """The same reports as a part of another page, such as a notebook, with their style sheet."""
    return xml_document(f'<div class="picsc-page"><style>{_style()}</style>{_body(contents, 2)}</div>\n')


def _body(contents: Sequence[Content], level: int) -> str:
    words = dict.fromkeys(word for each in contents for word in each.words)
    template = _environment().get_template("body.html.j2")
    return template.render(reports=[*contents[:-1], explained(contents[-1], tuple(words))], level=level)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # loaded only where a page is written

    made = Environment(
        loader=PackageLoader("picsc.reports.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_visible,
        keep_trailing_newline=True,
    )
    made.filters["cut"], made.filters["markup"] = cut, _markup
    return made


@cache
def _style() -> str:
    from importlib.resources import files

    return _markup(files("picsc.reports.pages").joinpath("templates", "style.css").read_text(encoding="utf-8"))


def _markup(text: str) -> str:
    """Text that is markup already."""
    from markupsafe import Markup  # comes with jinja2

    return Markup(text)  # noqa: S704 - made by this package, which escapes what it puts in


def _visible(value: object) -> object:
    """Text from data on one line, without a character that cannot be seen; markup stays what it is."""
    return printable(value) if type(value) is str else value
