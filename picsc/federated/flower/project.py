"""A Flower project for the settings of a federation: files that anybody can read, and `flwr run` takes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from picsc.errors import SettingsError
from picsc.federated.flower.settings_of_clients import refuse_unfit, settings_of_clients
from picsc.settings import FedSettings

SERVER_APP = '''"""The server of the federation: picsc's ServerApp, with the settings in pyproject.toml."""

from picsc.federated.flower.server_app import app

__all__ = ["app"]
'''
CLIENT_APP = '''"""A client of the federation: picsc's ClientApp, on the file that the SuperNode was started with."""

from picsc.federated.flower.client_app import app

__all__ = ["app"]
'''
PROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "picsc-federation"
version = "1.0.0"
description = "A federation of picsc"
license = "BSD-3-Clause"
dependencies = [] # picsc[flower] is installed on every machine beforehand, so that no run fetches anything

[tool.hatch.build.targets.wheel]
packages = ["federation"]

[tool.flwr.app]
publisher = "picsc"

[tool.flwr.app.components]
serverapp = "federation.server_app:app"
clientapp = "federation.client_app:app"

[tool.flwr.app.config]
clients = {clients} # number of clients that are waited for
patience = {patience} # seconds that a client is waited for
resume = false # true goes on after the rounds that the server's folder holds
folder = "" # of the server: finished rounds and the report; empty is picsc's cache
levels = {levels} # JSON: levels of columns that all clients know from the start, by column
settings = {settings} # of picsc fed, as JSON
"""


def _string(value: object) -> str:
    """A value as JSON in a string of TOML."""
    return json.dumps(json.dumps(value, ensure_ascii=False), ensure_ascii=False)


def write_project(
    folder: Path,
    settings: FedSettings,
    *,
    clients: int,
    patience: float = 600.0,
    levels: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Write a Flower project.

    Args:
        folder: to write into; created if need be.
        settings: of the federation.
        clients: number of clients.
        patience: seconds that the server waits for a client.
        levels: of columns, where all clients know them from the start.

    Raises:
        SettingsError: real clients do not have such settings, or the folder holds files already.
    """
    refuse_unfit(None, settings)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        there = sorted(each.name for each in folder.iterdir())
        if there:
            raise SettingsError(f"{folder} holds {there[0]}: name a folder that is new or empty")
        app = folder / "federation"
        app.mkdir()
        (app / "__init__.py").write_text('"""A federation of picsc."""\n', encoding="utf-8")
        (app / "server_app.py").write_text(SERVER_APP, encoding="utf-8")
        (app / "client_app.py").write_text(CLIENT_APP, encoding="utf-8")
        plain = settings_of_clients(settings).model_dump(mode="json", exclude_defaults=True)
        text = PROJECT.format(
            clients=clients, patience=patience, settings=_string(plain), levels=_string(dict(levels or {}))
        )
        (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"cannot write into {folder}: {error.strerror or error}") from None
