"""Versions in a report's manifest."""

import os
import subprocess
import sys
from pathlib import Path

import torch

import picsc
from picsc.runtime.versions import code_digest, versions


def test_the_processor_is_named_as_torch_uses_it() -> None:
    assert versions()["cpu"] == torch.backends.cpu.get_cpu_capability()
    told = subprocess.run(
        [sys.executable, "-c", "from picsc.runtime.versions import versions; print(versions()['cpu'])"],
        env={**os.environ, "ATEN_CPU_CAPABILITY": "default"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert told.stdout == "DEFAULT\n"


def test_the_code_is_told_apart_by_its_source_files_alone(tmp_path: Path) -> None:
    """A changed, a renamed and a new file each give another digest; files that are no source do not."""

    def digest(**files: str) -> str:
        package = tmp_path / str(len(list(tmp_path.iterdir())))
        for name, content in files.items():
            file = package / "inner" / name.replace("_", ".")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, encoding="utf-8")
        return code_digest(package)

    first = digest(a_py="x = 1\n")
    assert first == digest(a_py="x = 1\n", a_pyc="compiled") == digest(a_py="x = 1\n")
    others = {digest(a_py="x = 2\n"), digest(b_py="x = 1\n"), digest(a_py="x = 1\n", b_py="")}
    assert len({first, *others}) == 4
    assert code_digest(tmp_path / "nowhere") == "unknown"


def test_a_manifest_names_the_digest_of_the_code_that_ran() -> None:
    assert versions()["picsc_code"] == code_digest(Path(picsc.__file__).parent)
    assert len(versions()["picsc_code"]) == 12
