from pathlib import Path

import pytest
import yaml

from picsc.settings import AuditSettings, validated

RECIPES = sorted((Path(__file__).parent.parent / "recipes").glob("*.yaml"))


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_recipe_holds_valid_settings(path: Path) -> None:
    settings = validated(AuditSettings, **yaml.safe_load(path.read_text(encoding="utf-8")))
    assert settings.draws >= 99
