"""Processes of Flower on this machine: a SuperLink and SuperNodes, which report nothing to anybody and end together."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from picsc.errors import DataError, SettingsError

PATIENCE = 120.0
"""Seconds that the server waits for a node."""
SILENT = {"FLWR_TELEMETRY_ENABLED": "0", "FLWR_DISABLE_UPDATE_CHECK": "1"}
"""Variables under which Flower reports nothing to its makers, and does not ask for a newer version."""
COMMANDS = ("flwr", "flower-superlink", "flower-supernode")


@dataclass(slots=True)
class Nodes:
    """Processes of Flower, which end together."""

    folder: Path
    port: int
    """Of the SuperLink, on 127.0.0.1."""
    environment: Mapping[str, str]
    tls: Sequence[str] = ("--insecure",)
    """Options of a SuperLink with or without TLS."""
    trust: Sequence[str] = ("--insecure",)
    """Options of a SuperNode with or without TLS."""
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start_link(self) -> subprocess.Popen[bytes]:
        """Start the SuperLink."""
        return self._start("link", ["flower-superlink", *self.tls, "--host", "127.0.0.1", "--port", str(self.port)])

    def start_node(self, name: str, configuration: Mapping[str, str | int]) -> subprocess.Popen[bytes]:
        """Start the SuperNode of a client.

        Args:
            name: of its log.
            configuration: file, name and folder of the client.
        """
        words = " ".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in configuration.items())
        link = ["--superlink", f"127.0.0.1:{self.port}", "--host", "127.0.0.1", "--port", str(free_port())]
        return self._start(name, ["flower-supernode", *self.trust, *link, "--node-config", words])

    def run_app(self, app: Path, configuration: str) -> None:
        """Hand the project to the SuperLink.

        Args:
            app: folder of the project.
            configuration: values that replace those of the project.

        Raises:
            DataError: the SuperLink does not take it.
        """
        command = [command_of("flwr"), "run", str(app), "here", "--run-config", configuration]
        end = time.monotonic() + PATIENCE
        while True:
            done = subprocess.run(command, env=dict(self.environment), capture_output=True, text=True, check=False)  # noqa: S603
            if done.returncode == 0:
                return
            if time.monotonic() > end or self.processes[0].poll() is not None:
                raise DataError(f"Flower's SuperLink did not take the run: {(done.stderr or done.stdout).strip()}")
            time.sleep(1)

    def stop(self) -> None:
        """End all processes, and those that they have started."""
        for process in self.processes:
            _signal(process, signal.SIGTERM)
        for process in self.processes:
            with suppress(subprocess.TimeoutExpired):
                process.wait(10)
        for process in self.processes:
            _signal(process, getattr(signal, "SIGKILL", signal.SIGTERM))
            process.wait()

    def _start(self, name: str, words: Sequence[str]) -> subprocess.Popen[bytes]:
        with (self.folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(  # noqa: S603 - Flower's own commands
                [command_of(words[0]), *words[1:]],
                env=dict(self.environment),
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # so that all that it starts can be ended with it
            )
        self.processes.append(process)
        return process


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
    """Send a signal to a process and those that it has started."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
    elif process.poll() is None:
        process.terminate()


def command_of(name: str) -> str:
    """The path of one of Flower's commands, of this Python if it has them.

    Raises:
        SettingsError: Flower is not installed.
    """
    beside = Path(sys.executable).parent
    found = shutil.which(name, path=os.pathsep.join([str(beside), os.environ.get("PATH", "")]))
    if found is None:
        raise SettingsError("--engine flower needs Flower: install picsc with it, pip install 'picsc[flower]'")
    return found


def free_port() -> int:
    """A port of 127.0.0.1 that nobody uses now."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])


@contextmanager
def started(folder: Path, *, certificate: Path | None = None, key: Path | None = None) -> Iterator[Nodes]:
    """A SuperLink on loopback, which ends with all nodes that were started.

    Args:
        folder: of logs and of Flower's own files.
        certificate: of the SuperLink, which clients trust; None is without TLS.
        key: of the certificate.
    """
    for name in COMMANDS:
        command_of(name)
    home = folder / "flower"
    home.mkdir(parents=True, exist_ok=True)
    port = free_port()
    secure = f'root-certificates = "{certificate}"' if certificate is not None else "insecure = true"
    lines = ["[superlink]", 'default = "here"', "[superlink.here]", f'address = "127.0.0.1:{port}"', secure, ""]
    (home / "config.toml").write_text("\n".join(lines), encoding="utf-8")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    own = {"FLWR_HOME": str(home), "PATH": path, "OMP_NUM_THREADS": "1", "FLWR_SUPEREXEC_TASK_POLL_INTERVAL": "0.5"}
    nodes = Nodes(folder, port, {**os.environ, **own, **SILENT})
    if certificate is not None:
        one = ["--ssl-ca-certfile", str(certificate), "--ssl-certfile", str(certificate), "--ssl-keyfile", str(key)]
        nodes = replace(nodes, tls=one, trust=["--root-certificates", str(certificate)])
    try:
        nodes.start_link()
        yield nodes
    finally:
        nodes.stop()
