"""Text from outside made safe: what each kind of output shows of it, and what stays as it is."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest
from markdown_it import MarkdownIt

from picsc_cli.console.exits import handle_errors
from picsc_cli.console.safe import (
    annotation_message,
    annotation_property,
    csv_cell,
    json_document,
    markdown,
    markdown_code,
    no_commands,
    xml,
    xml_document,
)
from picsc_cli.console.streams import warn
from tests.hostile import HOSTILE, check_lines


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("::error file=a::b", r"\x3a:error file=a::b"),
        ("  ::stop-commands::x", r"  \x3a:stop-commands::x"),
        ("a\n\x1b[1m::error::x\n", "a\n\x1b[1m\\x3a:error::x\n"),
        ("std::vector 1:2\n: :x", "std::vector 1:2\n: :x"),
    ],
)
def test_no_line_is_a_command(line: str, shown: str) -> None:
    assert no_commands(line) == shown


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ("=1+1", "'=1+1"),
        ("\t=1+1", r"'\t=1+1"),
        ("@a", "'@a"),
        ("-", "-"),
        ("-1.5", "-1.5"),
        ("-1.5 - 3e-5", "-1.5 - 3e-5"),
        ("-1+1", "'-1+1"),
        ("+x", "'+x"),
        ("::error::", "'::error::"),
        ("a\r\n::b", r"a\r\n::b"),
        ("\x1b[31m\u202e", r"\x1b[31m\u202e"),
        (("=a", "b"), "'=a, b"),
        (-1.5, -1.5),
        (True, "true"),
        (None, None),
    ],
)
def test_a_field_is_no_formula_and_numbers_stay_numbers(value: object, field: object) -> None:
    assert csv_cell(value) == field


@pytest.mark.parametrize("name", HOSTILE)
def test_markdown_shows_the_name_itself(name: str) -> None:
    for text in (markdown(name), f"- {markdown_code(name)}", f"a {markdown(name)}"):
        check_lines(text)
        [*_, inline] = [token for token in MarkdownIt("commonmark").parse(text) if token.type == "inline"] or [None]
        kinds = {each.type for each in (inline.children or ())} if inline else set()
        assert kinds <= {"text", "text_special", "code_inline", "html_inline"}


@pytest.mark.parametrize("name", HOSTILE)
def test_xml_and_json_keep_their_values(name: str) -> None:
    text = xml_document(f"<a>\n{xml(name)}</a>")
    check_lines(text)
    assert ET.fromstring(text).text == f"\n{ET.fromstring(f'<a>{xml(name)}</a>').text or ''}"  # noqa: S314 - our own
    body = json_document(json.dumps({name: [name]}, indent=2, ensure_ascii=False))
    check_lines(body)
    assert json.loads(body) == {name: [name]}


def test_an_annotation_is_one_line() -> None:
    assert annotation_message("100%\r\n\x1b::a") == r"100%25%0D%0A\x1b::a"
    assert annotation_property("a:b,c") == "a%3Ab%2Cc"


@pytest.mark.parametrize("name", HOSTILE)
def test_messages_and_tracebacks_are_no_commands(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    warn(name)
    with pytest.raises(Exception), handle_errors():  # noqa: B017, PT011 - typer's way to exit
        raise RuntimeError(name)
    check_lines(capsys.readouterr().err)
