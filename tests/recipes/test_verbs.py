"""Verbs of recipes: one record each, alike in every list that the settings and reports have to keep."""

from __future__ import annotations

from typing import get_args, get_type_hints

import pytest

from picsc.recipes.verbs import BY_NAME, VERBS, Verb, verb_of
from picsc.reports.recipes import RecipeTable
from picsc.settings import KINDS, PartitionSettings
from picsc.settings.recipe import Recipe
from picsc_cli.output.registry import formats_of

EACH = pytest.mark.parametrize("verb", VERBS, ids=list(BY_NAME))


def test_every_list_of_verbs_names_the_same_ones_in_the_same_order() -> None:
    assert {verb.name: verb.settings for verb in VERBS} == KINDS
    assert tuple(BY_NAME) == tuple(KINDS)
    assert get_args(Recipe.model_fields["verb"].annotation) == tuple(BY_NAME)
    assert set(get_args(get_type_hints(RecipeTable)["verb"])) == set(BY_NAME)


@EACH
def test_a_verb_is_found_by_its_settings(verb: Verb) -> None:  # type: ignore[type-arg] # any of them
    settings = verb.settings()
    assert verb_of(settings) is verb
    assert verb.columns_in in verb.settings.model_fields
    assert verb.asked(settings).words
    assert "json" in formats_of(verb.report)


def test_clients_that_are_asked_for_name_the_block_of_their_rows() -> None:
    fed, audit = BY_NAME["fed"], BY_NAME["audit"]
    natural, invented = PartitionSettings(), PartitionSettings(clients=4, partition="dirichlet")
    assert [fed.asked(fed.settings(clients=one)).clients for one in (natural, invented)] == [
        "natural clients", "4 clients, dirichlet",
    ]  # fmt: skip
    assert [audit.asked(audit.settings(clients=one)).clients for one in (natural, invented)] == [
        "", "4 clients, dirichlet",
    ]  # fmt: skip
    assert fed.asked(fed.settings(clients=PartitionSettings(by="site"))).words == "by site"
