"""Data sets by name: those that scikit-learn brings along, and everything on OpenML."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast
from xml.parsers.expat import ExpatError

import arff  # type: ignore[import-untyped]  # comes with openml, whose error it is
import numpy as np
import pandas as pd
import urllib3
from sklearn import datasets as bundled

from picsc.datasets.load import from_frame
from picsc.datasets.table import Dataset
from picsc.errors import DataError
from picsc.settings import ReadSettings

BUNDLED: dict[str, Callable[..., Any]] = {
    "breast_cancer": bundled.load_breast_cancer,
    "wdbc": bundled.load_breast_cancer,
    "iris": bundled.load_iris,
    "wine": bundled.load_wine,
    "digits": bundled.load_digits,
    "diabetes": bundled.load_diabetes,
}
"""Need no network. wdbc is breast_cancer under the name it has elsewhere."""


def by_name(name: str, settings: ReadSettings, *, keys: Sequence[str] = ()) -> Dataset:
    """Get a data set by name, or from OpenML by number.

    Args:
        name: one of `BUNDLED`, else an OpenML name (its oldest active version) or id.
        settings: how to read it; without --target, OpenML's own default target is used.
        keys: columns that cut the table; they are kept aside and are no covariates.

    Raises:
        DataError: there is no such data set, or OpenML cannot be reached.
    """
    if name in BUNDLED:
        return from_frame(_bundled_frame(name), settings, name=name, source="scikit-learn", keys=keys)
    return _from_openml(name, settings, keys)


def _bundled_frame(name: str) -> pd.DataFrame:
    bunch = BUNDLED[name](as_frame=True)
    frame: pd.DataFrame = bunch.frame
    if "target_names" in bunch:
        frame = frame.assign(target=np.asarray(bunch.target_names)[bunch.target.to_numpy()])
    return frame


def _from_openml(name: str, settings: ReadSettings, keys: Sequence[str]) -> Dataset:
    import openml  # creates its folders in the home directory, so only when asked for

    try:
        found = openml.datasets.get_dataset(int(name) if name.isdecimal() else name, download_data=True)
        data, *_ = found.get_data(include_row_id=True, include_ignore_attribute=True, dataset_format="dataframe")
    except openml.exceptions.OpenMLServerNoResult:
        raise _unknown(name) from None
    except (
        OSError,  # what requests raises derives from it
        urllib3.exceptions.HTTPError,
        openml.exceptions.PyOpenMLError,
        ExpatError,
        arff.ArffException,
    ) as error:
        why = " ".join(str(error).split())[:200]
        raise DataError(
            f"data set {name!r} cannot be fetched from OpenML ({openml.config.server}) and is not in its cache folder "
            f"{openml.config.get_cache_directory()} ({type(error).__name__}: {why}); give a file instead "
            "(picsc audit FILE)"
        ) from None
    except RuntimeError as error:
        if "No active datasets" in str(error):  # what openml raises for an empty answer
            raise _unknown(name) from None
        raise
    frame = cast("pd.DataFrame", data)  # dataset_format says so
    default = _default_target(found.default_target_attribute, list(frame.columns))
    chosen = "--target"
    if settings.target is None and not settings.no_target and default is not None:
        settings, chosen = settings.model_copy(update={"target": default}), "OpenML's default"
    unwanted = _listed(found.row_id_attribute) | _listed(found.ignore_attribute)
    unwanted -= {settings.target, *keys}  # the number of a person is no covariate, but may cut the table
    return from_frame(
        frame.drop(columns=[name for name in frame.columns if name in unwanted]),
        settings,
        name=str(found.name),
        source=f"OpenML {found.dataset_id}",
        keys=keys,
        target_chosen=chosen,
    )


def _unknown(name: str) -> DataError:
    return DataError(
        f"there is no data set {name!r} on OpenML, nor among those that need no network ({', '.join(BUNDLED)}); "
        "give another name, or a file (picsc audit FILE)"
    )


def _default_target(attribute: str | None, columns: list[str]) -> str | None:
    """The default target; the first one if there are several."""
    if attribute is None or attribute in columns:
        return attribute
    first = attribute.split(",")[0]
    return first if first in columns else None


def _listed(attribute: str | list[str] | None) -> set[str | None]:
    """Names in an attribute of OpenML's: one, a list, or several in one string with commas."""
    entries = [attribute] if isinstance(attribute, str) else attribute or []
    return {name.strip() for entry in entries for name in (entry, *entry.split(","))}
