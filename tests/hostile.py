"""A hundred names that something obeys, and for each kind of output the check that nothing was obeyed."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

from markdown_it import MarkdownIt

_STEMS = (
    "::error file=README.md,line=1::hacked",
    "::stop-commands::pause",
    "::add-mask::a",
    "##[error]hacked",
    "##vso[task.setvariable variable=a]b",
    "##teamcity[buildStatus text='x']",
    "=1+1",
    "+1+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(1,2)",
    "\uff1d1+1",
    "=HYPERLINK(\"http://a.b\",\"c\")",
    "[red]bold[/red]",
    "[link=http://a.b]x[/link]",
    "a|b",
    "\\|x",
    "`code` ``more",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</title></svg><b>&amp;",
    "]]><!--",
    "[text](http://a.b)",
    "![image](http://a.b/c.png)",
    "[text][1]",
    "https://a.b/c",
    "<https://a.b>",
    "www.a.b",
    "@somebody",
    "# heading",
    "> quote",
    "1. one",
    "- item",
    "---",
    "***bold*** _x_ ~~y~~",
    "100%0A::error::x",
    ":warning:",
    "x" * 3000,
    "word " * 300,
    "",
    '"quoted", \'single\'',
    "a,b;c\td",
)  # fmt: skip
_CONTROLS = (
    "\x1b[2J\x1b[31m",
    "\x1b]0;title\x07",
    "\x1b]8;;http://a.b\x1b\\link\x1b]8;;\x1b\\",
    "\x9b31m",
    "\x07\x08\x7f",
    "\u202egnp.exe\u202c",
    "\u2066x\u2069",
    "\u200b\u200d\ufeff",
    "\u2028\u2029\x85",
    "\r\n",
)
HOSTILE = (
    *_STEMS,
    *_CONTROLS,
    *(f"a\n{stem}" for stem in _STEMS[:30]),
    *(f" \t{stem}" for stem in _STEMS[:14]),
    *(f"{control}{stem}" for control, stem in zip(_CONTROLS, _STEMS, strict=False)),
)
"""Names of columns, classes, pieces and files, words among numbers, and messages of errors."""
IN_FILES = tuple(dict.fromkeys(name.replace("\r", "").strip() or "blank" for name in HOSTILE))
"""Those that a csv file can hold, each once."""

_COMMAND = re.compile(r"^\s*::|##\w*\[", re.MULTILINE)
_FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]")
_FLAGS = r"::(error|warning|notice) (file=[^:,]*,line=\d+,)?title=[^:,]*::"


def _printed(text: str) -> None:
    odd = {char for char in text if not char.isprintable() and char not in "\n\r"}
    assert not odd, ascii(odd)


def check_lines(text: str) -> None:
    """A table, a sentence or a log: nothing but printable characters, and no line is a command of a pipeline."""
    _printed(text)
    assert "\r" not in text
    found = _COMMAND.search(text)
    assert found is None, ascii(text[max(0, found.start() - 80) : found.end() + 80])


def check_csv(text: str) -> None:
    """No field begins a formula unless it is a number, and no line is a command."""
    _printed(text)
    assert _COMMAND.search(text) is None
    for row in csv.reader(io.StringIO(text, newline="")):
        for cell in row:
            assert not {"\n", "\r"} & set(cell)
            assert not _FORMULA.match(cell) or all(map(_is_number, cell.split())), ascii(cell)


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return word == "-"
    return True


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        del attrs
        self.tags.add(tag)


def check_markdown(text: str) -> None:
    """As HTML it has nothing but headings, lists, tables, code and bold letters, and all rows of a table are whole."""
    check_lines(text)
    outside = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", text.replace("\\`", ""))
    assert not re.search(r"(?<!\w)@(?=\w)", outside)
    tags = _Tags()
    tags.feed(MarkdownIt("commonmark", {"html": True}).enable("table").render(text))
    own = {"h1", "h2", "p", "br", "ul", "li", "table", "thead", "tbody", "tr", "th", "td", "strong", "code"}
    assert tags.tags <= own, tags.tags - own
    assert not re.search(r"https?://|www\.", outside)
    bars = re.findall(r"(?:^\|.*\n)+", text + "\n", re.MULTILINE)
    for table in bars:
        counts = {len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in table.splitlines()}
        assert len(counts) == 1, table


def check_annotations(text: str) -> None:
    """Every line is one of our annotations, and says nothing else to GitHub's runner."""
    _printed(text)
    lines = text.splitlines()
    assert len(lines) <= 10
    assert all(re.match(_FLAGS, line) for line in lines)


def check_xml(text: str) -> None:
    """A document that can be read, none of whose lines is a command."""
    check_lines(text)
    ET.fromstring(text)  # noqa: S314 - our own


def check_json(text: str) -> None:
    """Strict JSON, whose values are what they were, none of whose lines is a command."""
    check_lines(text)
    json.loads(text, parse_constant=lambda word: 1 / 0 if word else None)


def check_html(text: str) -> None:
    """A page with our own tags."""
    check_lines(text)
    tags = _Tags()
    tags.feed(text)
    assert not tags.tags & {"script", "img", "b", "a"}


CHECKS = {
    "summary": check_lines,
    "table": check_lines,
    "csv": check_csv,
    "markdown": check_markdown,
    "github": check_annotations,
    "junit": check_xml,
    "svg": check_xml,
    "html": check_html,
    "json": check_json,
    "sarif": check_json,
    "codequality": check_json,
}
"""From a format to its check."""
