"""The encoding of a model's columns and target as JSON, and back: kinds, levels, scales, and how values are written."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from picsc.datasets.encoding import Encoder, encoded_names
from picsc.datasets.new_rows import KnownColumns
from picsc.datasets.table import Column, Dataset
from picsc.errors import DataError
from picsc.evaluation.target_units import TargetUnits
from picsc.saved_models.model import ModelTarget, TableModel
from picsc.saved_models.training_rows import TrainingRows
from picsc.settings import ReadSettings

SCHEMA = "picsc.model/1"


def encoding_text(model: TableModel) -> str:
    """Everything of a model but its weights, as JSON; numbers keep all their digits."""
    formats, absent = dict(model.known.date_formats), dict(model.known.absent)
    columns = [
        {
            "name": column.name,
            "kind": column.kind,
            "levels": list(column.levels),
            "missing_indicator": column.indicator,
            "mean": _or_none(mean),
            "deviation": deviation,
            "date_format": formats.get(column.name),
            "words_among_numbers": list(absent.get(column.name, ())),
        }
        for column, (mean, deviation) in zip(model.known.columns, model.encoder.scales, strict=True)
    ]
    target, units = model.target, model.target.units
    found = {
        "schema": SCHEMA,
        "target": {
            "name": target.name,
            "kind": target.kind,
            "classes": list(target.classes),
            "whole_numbers": target.numbered,
            "mean": None if units is None else units.mean,
            "deviation": None if units is None else units.deviation,
        },
        "hidden": model.hidden,
        "columns": columns,
        "features": list(model.encoder.names),
        "decimal": model.known.decimal,
        "read": model.known.read.model_dump(mode="json"),
    }
    return json.dumps(found, indent=1, allow_nan=False) + "\n"


def model_of_text(text: str, theta: NDArray[np.float32], training_rows: TrainingRows | None, where: str) -> TableModel:
    """The inverse of `encoding_text`.

    Args:
        text: of the file.
        theta: the weights, (d,).
        training_rows: the summary of the training rows.
        where: the file, for messages.

    Raises:
        DataError: it is no encoding that this version of picsc reads.
    """
    try:
        found = json.loads(text)
        if found["schema"] != SCHEMA:
            raise DataError(f"{where} is of the form {found['schema']!r}, and this version of picsc reads {SCHEMA!r}")
        columns = tuple(_column(each) for each in found["columns"])
        names = encoded_names(Dataset(where, where, 0, columns, (), None))
        scales = tuple((math.nan if c["mean"] is None else c["mean"], c["deviation"]) for c in found["columns"])
        if list(names) != found["features"]:
            raise KeyError("features")
        target = found["target"]
        units = None if target["mean"] is None else TargetUnits(target["mean"], target["deviation"])
        known = KnownColumns(
            columns,
            ReadSettings.model_validate(found["read"]),
            tuple((c["name"], c["date_format"]) for c in found["columns"] if c["date_format"] is not None),
            tuple((c["name"], tuple(c["words_among_numbers"])) for c in found["columns"] if c["words_among_numbers"]),
            found["decimal"],
        )
        return TableModel(
            known,
            Encoder(scales, names),
            ModelTarget(target["name"], target["kind"], tuple(target["classes"]), target["whole_numbers"], units),
            theta,
            int(found["hidden"]),
            training_rows,
        )
    except (ValueError, KeyError, TypeError, ValidationError) as error:
        raise DataError(f"{where} is no encoding of a model of picsc ({error}); save the model again") from None


def _column(held: dict[str, Any]) -> Column:
    numbers, codes = np.empty(0, np.float64), np.empty(0, np.int32)
    values = codes if held["kind"] in ("categorical", "boolean") else numbers
    return Column(held["name"], held["kind"], values, tuple(held["levels"]), indicator=bool(held["missing_indicator"]))


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value
