"""YAML 1.2 scalars, bounds and refusals, with lines (field cases: 1e-3 is a string, `no` is False)."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from picsc.recipes.yaml import Document, YamlError, read_yaml

RECIPES = sorted((Path(__file__).parents[2] / "recipes").glob("*.yaml"))
LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


def error(text: str | bytes) -> tuple[int, str]:
    with pytest.raises(YamlError) as raised:
        read_yaml(text if isinstance(text, bytes) else text.encode())
    return raised.value.line, raised.value.message


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 0.001), ("1E5", 1e5), (".5", 0.5), ("5.", 5.0), ("-1.5e+3", -1500.0), ("+1", 1), ("010", 10),
        ("0o10", 8), ("0x1F", 31), (".inf", float("inf")), ("-.INF", float("-inf")), ("true", True), ("FALSE", False),
        ("~", None), ("Null", None), ("", None), ("no", "no"), ("yes", "yes"), ("on", "on"), ("off", "off"), ("y", "y"),
        ("1_000", "1_000"), ("1:30", "1:30"), ("2020-01-01", "2020-01-01"), ("0o8", "0o8"), ("-0x1", "-0x1"),
        ("'1'", "1"), ('"no"', "no"), ("! 3", "3"), ("!!str 3", "3"), ("!!float 3", 3.0), ("tRue", "tRue"),
    ],
)  # fmt: skip
def test_scalars_are_those_of_the_core_schema(text: str, value: object) -> None:
    document = read_yaml(f"a: {text}".encode())
    assert document.values == {"a": value}
    assert type(document.values["a"]) is type(value)


def test_p36_of_the_field() -> None:
    text = b"lambda: 1e-1\ntarget: no\nclasses: [yes, no]\nseed: 010\n"
    assert read_yaml(text) == Document(
        {"lambda": 0.1, "target": "no", "classes": ["yes", "no"], "seed": 10},
        {("lambda",): 1, ("target",): 2, ("classes",): 3, ("classes", 0): 3, ("classes", 1): 3, ("seed",): 4},
    )


def test_a_block_is_a_word_and_a_mark_at_the_start_is_no_part_of_the_first_key() -> None:
    assert read_yaml("\ufeffa: |\n  no\n".encode()).values == {"a": "no\n"}


def test_an_alias_stands_for_its_value() -> None:
    assert read_yaml(b"a: &x [1]\nb: *x\n").values == {"a": [1], "b": [1]}


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: 1\nb: 2\na: 3", 3, "the key 'a' stands here and on line 1"),
        ("1: 2\n'1': 3", 2, "the key '1' stands here and on line 1"),
        ("a: 1\n<<: {b: 1}", 2, "merge key"),
        ("a: 1\n---\nb: 2", 2, "a second document begins"),
        ("x: 0\na: &x [*x]", 2, "*x stands inside what it stands for"),
        ("a: *b", 1, "*b has no anchor &b before it"),
        ("\na: !!python/object/apply:os.system [x]", 2, "the tag tag:yaml.org,2002:python/object/apply:os.system"),
        ("a: !!set {b}", 1, "the tag tag:yaml.org,2002:set is not read"),
        ("a: !thing 3", 1, "the tag !thing is not read"),
        ("a: !!int x", 1, "'x' is no int"),
        ("{[1]: 2}", 1, "a key must be a word or a whole number"),
        ("true: 2", 1, "a key must be a word or a whole number"),
        ("[" * 10_000, 1, "nested more than 50 deep"),
        (LAUGHS, 5, "there are more than 20,000 values"),
        (f"a: &a 1\nb: [{'*a, ' * 101}]", 2, "there are more than 100 aliases"),
        ("a: " + "9" * 5000, 1, "a number has 5000 digits; at most 100 are read"),
        ('a: "\\uD800"', 1, "half a character"),
        ('a: "\\UFFFFFFFF"', 1, "a number in an escape or a directive is out of range"),
        ("%YAML 1." + "9" * 5000 + "\n--- a", 1, "a number in an escape or a directive is out of range"),
        ("a: 1\nb:\tc\n\td: 1", 2, "(column 3)"),
        ("a: 1\n\x00", 2, "the character #x0000"),
        ("a: [1", 1, "is no YAML: while parsing a flow sequence"),
        (b"a: 1\nb: \xff", 2, "is not UTF-8 at byte 9"),
        (b" " * (2**20 + 1), 0, "is longer than 1,048,576 bytes"),
    ],
)
def test_what_is_refused_is_told_with_its_line(text: str | bytes, line: int, words: str) -> None:
    found, message = error(text)
    assert words in message
    assert found == line


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_recipes_in_the_tree_read_as_before_but_for_numbers_like_1e_5(path: Path) -> None:
    content = path.read_bytes()
    assert read_yaml(content).values == with_floats(yaml.safe_load(content))


def with_floats(value: object) -> object:
    """Numbers of YAML 1.2 that YAML 1.1 reads as words."""
    return {"1e-5": 1e-5}.get(value, value) if isinstance(value, str) else inside(value)


def inside(value: object) -> object:
    if isinstance(value, dict):
        return {key: with_floats(item) for key, item in value.items()}
    return [with_floats(item) for item in value] if isinstance(value, list) else value


YAML_LIKE = st.lists(st.sampled_from([*"abc01 \n:-[]{},&*!|>'\"#%?~.<\t", "\n  ", "\n- ", ": ", "*a", "&a ", "\\u"]))


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.binary(max_size=200), st.text(max_size=200), YAML_LIKE.map("".join)))
def test_anything_is_read_or_refused(content: str | bytes) -> None:
    raw = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
    with suppress(YamlError):
        assert isinstance(read_yaml(raw), Document)
