"""A model by the name that `--model` gives: an import path, or a file and a function in it.

The user's own code runs only because the user named it.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
import yaml
from torch import nn

from picsc.errors import SettingsError
from picsc.settings.own_model import ModelSettings

SCIKIT_LEARN = "sklearn:"
"""Beginning of a path inside scikit-learn."""
_OWN_NAME = "picsc_own_model_"

NO_GRADIENTS = (
    "an estimator has no gradients, so that penalties, Fisher information, tau, weight decay and parameters that are "
    "carried along do not apply to it"
)
"""The reason why an estimator has only a part of what picsc does, in one sentence."""


@dataclass(frozen=True, slots=True)
class OwnModel:
    """A model of the user: plain values, so that another process can make it as well."""

    name: str
    """As `--model` gives it."""
    options: tuple[str, ...]
    """`key=value`, with values as YAML has them."""
    kind: Literal["estimator", "module"]

    def made(self, *, seed: int, inputs: int, outputs: int) -> Any:
        """A new, untrained model.

        Args:
            seed: of its weights, and of an estimator's `random_state` unless an option sets it.
            inputs: encoded columns.
            outputs: classes, or 1 for a numeric target.
        """
        return _make(self.name, self.options, seed, (inputs, outputs))

    @property
    def manifest(self) -> dict[str, str]:
        """The import path and the version, or the file's digest: what a run is resumed by."""
        path, function = _file_of(self.name)
        if path is not None:
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            return {"file": path.name, "function": function, "sha256": digest, "kind": self.kind}
        full = _import_path(self.name)
        return {"import": full, "version": _version(full.partition(".")[0]), "kind": self.kind}


def own_model(settings: ModelSettings) -> OwnModel | None:
    """The user's model that the settings name; None for the paper's networks.

    Raises:
        SettingsError: it cannot be imported, or is no model.
    """
    if not settings.own:
        return None
    found = _make(settings.model, settings.model_options, 0, None)
    return OwnModel(settings.model, settings.model_options, "module" if isinstance(found, nn.Module) else "estimator")


def options_of(given: tuple[str, ...]) -> dict[str, Any]:
    """Options by name.

    Args:
        given: `key=value`, with values as YAML has them.

    Raises:
        SettingsError: a value is no YAML.
    """
    found = {}
    for one in given:
        key, _, value = one.partition("=")
        try:
            found[key.strip()] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise SettingsError(f"--model-option {one}: the value is no YAML") from error
    return found


def _make(name: str, options: tuple[str, ...], seed: int, shape: tuple[int, int] | None) -> Any:
    """A model; a function that asks for inputs and outputs gets the numbers of the shape, or 2 and 2 without."""
    maker, given = _loaded(name), options_of(options)
    inputs, outputs = shape or (2, 2)
    asked = _parameters(maker)
    offered = {"inputs": inputs, "outputs": outputs} if _file_of(name)[0] is not None else {}
    arguments = {key: value for key, value in offered.items() if key in asked} | given
    before = np.random.get_state()  # noqa: NPY002 - the user's code may draw from it, and it is left as it was
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            np.random.seed(seed)  # noqa: NPY002 - as above
            found = maker(**arguments)
    except Exception as error:
        raise SettingsError(f"--model {name}: it could not be made: {_said(error)}") from error
    finally:
        np.random.set_state(before)  # noqa: NPY002 - as above
    if isinstance(found, nn.Module):
        return found
    if inspect.isclass(found) or not (callable(getattr(found, "fit", None)) and hasattr(found, "predict")):
        raise SettingsError(
            f"--model {name}: it makes {type(found).__name__!r}, which is no model: need an estimator with fit and "
            "predict, or a torch.nn.Module"
        )
    if "random_state" not in given and hasattr(found, "get_params") and hasattr(found, "set_params"):
        draws = {
            key: seed for key, value in found.get_params().items() if key.endswith("random_state") and value is None
        }
        found.set_params(**draws)
    return found


def _parameters(maker: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(maker).parameters
    except (TypeError, ValueError):  # a class without a signature, such as those of extensions
        return {}


def _loaded(name: str) -> Callable[..., Any]:
    """The class or function of a name."""
    path, function = _file_of(name)
    if path is not None:
        return _of_file(name, str(path.resolve()), function)
    full = _import_path(name)
    module, _, attribute = full.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), attribute, None)
    except Exception as error:
        raise SettingsError(f"--model {name}: importing {module} failed: {_said(error)}") from error
    if not callable(found):
        raise SettingsError(f"--model {name}: {module} has no class or function {attribute!r}")
    return found  # type: ignore[no-any-return] # callable was checked


@cache
def _of_file(name: str, path: str, function: str) -> Callable[..., Any]:
    """The function of a file, which is run once a process."""
    if not Path(path).is_file():
        raise SettingsError(f"--model {name}: there is no file {path}")
    own = _OWN_NAME + hashlib.sha256(path.encode()).hexdigest()[:12]
    spec = importlib.util.spec_from_file_location(own, path)
    assert spec is not None  # noqa: S101 - the name ends in .py
    assert spec.loader is not None  # noqa: S101 - as above
    module = importlib.util.module_from_spec(spec)
    sys.modules[own] = module  # so that dataclasses and pickles of the file find it
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise SettingsError(f"--model {name}: running {path} failed: {_said(error)}") from error
    found = getattr(module, function, None)
    if not callable(found):
        own_names = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        raise SettingsError(
            f"--model {name}: {path} has no function {function!r}; it has {', '.join(own_names) or 'none'}"
        )
    return found  # type: ignore[no-any-return] # callable was checked


def _file_of(name: str) -> tuple[Path | None, str]:
    """The file and the function of `FILE.py:FUNCTION`; None and nothing for an import path."""
    file, colon, function = name.rpartition(":")
    return (Path(file), function) if colon and file.endswith(".py") else (None, "")


def _import_path(name: str) -> str:
    return f"sklearn.{name.removeprefix(SCIKIT_LEARN)}" if name.startswith(SCIKIT_LEARN) else name


def _version(package: str) -> str:
    for distribution in packages_distributions().get(package, (package,)):
        try:
            return f"{distribution} {version(distribution)}"
        except PackageNotFoundError:
            continue
    return f"{package}, not installed as a package"


def _said(error: Exception) -> str:
    """An error of the user's code on one line."""
    return " ".join(str(error).split()) or "an error without a message"
