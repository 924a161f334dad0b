"""Generated files are what the settings say, and a setting that is declared once is offered everywhere."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from picsc.datasets.load import from_frame
from picsc.errors import DataError, SettingsError
from picsc.settings import KINDS, AuditSettings, CutSettings, CvSettings, ReadSettings
from picsc.settings.by_keyword import from_keywords
from picsc.settings.generate import documentation, keyword_settings, outdated, rows_of, type_text
from picsc.settings.layers import Layer, resolved
from picsc.settings.option import PANELS, Option, in_help_order, settings_of
from picsc.settings.spelling import built, spelled
from picsc_cli.options.bind import NOTHING, Given, takes_rows
from picsc_cli.options.rows import Row

ROOT = Path(__file__).parents[2]


class WithDummy(AuditSettings):
    dummy: Annotated[int, Option("A dummy knob (default {default}).", "N", "Verdict")] = 3
    """A knob that this test declares."""


def test_generated_files_are_current() -> None:
    """`python -m picsc.settings.generate` writes them; an older pydantic words the same schema differently."""
    older = tuple(map(int, version("pydantic").split(".")[:2])) < (2, 11)
    assert set(outdated(ROOT)) <= ({"recipes/recipe.schema.json"} if older else set())


@pytest.mark.parametrize("verb", KINDS)
def test_names_of_settings_are_unique(verb: str) -> None:
    settings = list(settings_of(KINDS[verb], verb))
    for names in ([each.flag for each in settings], [each.keyword for each in settings]):
        assert len(set(names)) == len(names)


@pytest.mark.parametrize("verb", KINDS)
def test_every_field_is_offered_and_documented(verb: str) -> None:
    """All but two of an audit, whose pieces by a column are those of `cut.by`, and which trains no models in time."""
    leaves = dict(resolved_names(KINDS[verb]))
    offered = {each.name for each in settings_of(KINDS[verb], verb)}
    assert set(leaves) - offered == ({"clients.by", "cut.mix_time"} if verb == "audit" else set())
    assert all(documentation(each.model)[each.path[-1]] for each in settings_of(KINDS[verb], verb))
    assert all(each.option.panel in PANELS for each in settings_of(KINDS[verb], verb))


def resolved_names(kind: type[Any]) -> list[tuple[str, object]]:
    return [(name, value) for name, value, _ in resolved(kind, []).rows()]


def test_options_stand_by_panel_and_after_the_one_they_name() -> None:
    names = [each.name for each in in_help_order(settings_of(KINDS["cv"], "cv"))]
    assert names.index("penalty.merge") == names.index("penalty.strength") + 1
    assert names.index("read.no_target") == names.index("read.sheet") + 1
    assert names.index("validation") < names.index("methods") < names.index("train.epochs") < names.index("seed")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("cut.folds", "int | None"),
        ("reference", "str | None"),
        ("read.drop", "Sequence[str]"),
        ("read.quote", 'Literal["double", "single", "none"] | None'),
        ("level", "float"),
    ],
)
def test_types_are_spelled_as_python(name: str, text: str) -> None:
    [setting] = [each for each in settings_of(AuditSettings, "audit") if each.name == name]
    assert type_text(setting.info.annotation) == text


class TestADummyKnob:
    """Declared on a settings class and nowhere else, it is there in all four doors."""

    def test_command_line(self) -> None:
        seen: list[Given] = []
        app = typer.Typer()

        @app.command()
        @takes_rows([Row(*row) for row in rows_of(WithDummy, "audit")])
        def command(given: Given = NOTHING) -> None:
            seen.append(given)

        done = CliRunner().invoke(app, ["--dummy", "7"])
        assert (done.exit_code, seen) == (0, [{"dummy": 7}])
        assert "A dummy knob (default 3)." in CliRunner().invoke(app, ["--help"]).output

    @pytest.mark.parametrize("hyphens", [False, True])
    def test_recipe_and_pyproject(self, hyphens: bool) -> None:
        """Both are files whose tables go through `spelled` and `built`."""
        spelling = spelled({"dummy": 7}, WithDummy, hyphens=hyphens)
        made, problems = built(WithDummy, spelling.values)
        assert problems == []
        assert made is not None
        assert made.dummy == 7
        assert resolved(WithDummy, [Layer("a file", spelling.values)]).settings.dummy == 7

    def test_python(self) -> None:
        assert from_keywords(WithDummy, "audit", {"dummy": 7}).dummy == 7
        assert "dummy" in [each.keyword for each in keyword_settings(WithDummy, "audit")]
        assert documentation(WithDummy) == {"dummy": "A knob that this test declares."}

    def test_its_bound_names_its_keyword(self) -> None:
        with pytest.raises(SettingsError, match=r"^dummy='many': must be a whole number$"):
            from_keywords(WithDummy, "audit", {"dummy": "many"})


def test_an_unknown_column_is_blamed_on_the_option_that_names_it() -> None:
    settings = CvSettings(cut=CutSettings(by="site"), weights="w")
    assert settings.keys == ("site", "w")
    assert settings.keys.options == {"site": "--by", "w": "--weights"}
    with pytest.raises(DataError, match="--weights names no column 'w'"):
        from_frame(pd.DataFrame({"a": range(9), "site": ["x", "y", "z"] * 3}), ReadSettings(), keys=settings.keys)
