"""What is said where Flower is missing, and what its processes are started with."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from picsc.errors import SettingsError
from picsc.federated.flower import processes


def test_without_flower_one_sentence_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes.shutil, "which", lambda *_, **__: None)
    sentence = r"needs Flower: install picsc with it, pip install 'picsc\[flower\]'"
    with pytest.raises(SettingsError, match=sentence), processes.started(tmp_path):
        pass


def test_processes_end_with_all_that_they_have_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "flower-superlink"
    script.write_text("#!/bin/sh\nenv > environment.txt\nsleep 100 &\necho $! > child.txt\nwait\n")
    script.chmod(0o755)
    monkeypatch.setattr(processes, "command_of", lambda _: str(script))
    monkeypatch.chdir(tmp_path)
    with processes.started(tmp_path / "run") as nodes:
        while not (tmp_path / "child.txt").exists() or not (tmp_path / "child.txt").read_text():
            pass
    assert nodes.processes[0].poll() is not None
    child = Path("/proc") / (tmp_path / "child.txt").read_text().strip()
    until = time.monotonic() + 10  # a killed process stays in the list for a moment
    while (child / "cmdline").exists() and (child / "cmdline").read_bytes() and time.monotonic() < until:
        time.sleep(0.05)
    assert not (child / "cmdline").exists() or not (child / "cmdline").read_bytes()
    said = (tmp_path / "environment.txt").read_text().splitlines()
    assert {"FLWR_TELEMETRY_ENABLED=0", "FLWR_DISABLE_UPDATE_CHECK=1"} <= set(said)
