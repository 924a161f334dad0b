"""The JSON Schema of recipes, made from the settings, for editors that check YAML as it is written. Torch-free."""

from __future__ import annotations

import json
from typing import Any

from picsc.settings import KINDS
from picsc.settings.column_tables import ROLES, TABLE
from picsc.settings.recipe import Recipe

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_DEFINITIONS = "#/$defs/{model}"
Schema = dict[str, Any]


def recipe_schema() -> Schema:
    """One object schema per verb, chosen by the recipe's `verb`."""
    own = Recipe.model_json_schema(ref_template=_DEFINITIONS)
    definitions: Schema = own.pop("$defs")
    definitions["Entry"] = {"anyOf": [{"type": "string"}, _with_numbers(definitions["Entry"])]}
    properties: Schema = own["properties"]
    for verb, kind in KINDS.items():
        settings = kind.model_json_schema(ref_template=_DEFINITIONS)
        definitions |= settings.pop("$defs", {})
        definitions[verb] = {
            "title": f"Recipe of picsc {verb}",
            "type": "object",
            "properties": {
                **properties,
                "verb": {"const": verb},
                **settings["properties"],
                **_lambda(verb, settings["properties"]),
                **_columns(settings["properties"]),
            },
            "required": own["required"],
            "additionalProperties": False,
        }
    penalty = definitions["PenaltySettings"]["properties"]
    penalty["lambda"] = penalty["strength"]
    choices = [
        {"if": {"properties": {"verb": {"const": verb}}, "required": ["verb"]}, "then": {"$ref": f"#/$defs/{verb}"}}
        for verb in KINDS
    ]
    return {
        "$schema": _DIALECT,
        "title": "Recipe of picsc",
        "type": "object",
        "properties": {"verb": properties["verb"]},
        "required": own["required"],
        "allOf": choices,
        "$defs": dict(sorted(definitions.items())),
    }


def schema_text() -> str:
    """The schema as a file holds it."""
    return json.dumps(recipe_schema(), indent=2, ensure_ascii=False) + "\n"


def _lambda(verb: str, settings: Schema) -> Schema:
    """The name that the paper has for the strength of the penalty."""
    if verb == "fed":
        return {"lambda": settings["strength"]}
    return {"lambda": {"$ref": "#/$defs/PenaltySettings/properties/strength"}} if "penalty" in settings else {}


def _columns(settings: Schema) -> Schema:
    """The table of single columns, see `picsc.settings.column_tables`."""
    if "monitor" not in settings:
        return {}
    effect = {"type": "number", "minimum": 0, "exclusiveMaximum": 1}
    inner = {"min_effect": effect, "min-effect": effect, "role": {"enum": list(ROLES)}}
    column = {"type": "object", "properties": inner, "additionalProperties": False}
    return {TABLE: {"type": "object", "additionalProperties": column}}


def _with_numbers(entry: Schema) -> Schema:
    """Pieces may be named by a number, as YAML reads 3."""
    names = {"type": "array", "items": {"type": ["string", "number"]}}
    return {**entry, "properties": {**entry["properties"], "train_on": names, "test_on": names}}
