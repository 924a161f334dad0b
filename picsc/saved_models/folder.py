"""The folder of a saved model: weights, encoding, summary of the training rows, model card, and a digest of each file.

Nothing in it is a program: numbers are safetensors, the rest is JSON and Markdown.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from contextlib import suppress
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.numpy import load, save
from torch.nn.utils import parameters_to_vector

from picsc.errors import DataError, SettingsError
from picsc.phrases import listed
from picsc.saved_models.destination import check_folder
from picsc.saved_models.encoding_file import encoding_text, model_of_text
from picsc.saved_models.model import TableModel
from picsc.saved_models.training_rows import summary_of_text, summary_text
from picsc.training.networks import mlp

WEIGHTS, ENCODING, TRAINING, CARD = "weights.safetensors", "encoding.json", "training-rows.json", "model-card.md"
DIGESTS = "SHA256SUMS"
"""File with the digest of every other one, as `sha256sum` writes and checks it."""


def save_model(model: TableModel, folder: str | Path, card: str, *, option: str = "folder") -> Path:
    """Write a model: the whole folder, or none of it.

    Args:
        model: the model.
        folder: a folder that does not exist, or is empty.
        card: its model card, Markdown.
        option: that named the folder, for messages.

    Returns:
        The folder.

    Raises:
        SettingsError: the folder cannot be written.
    """
    check_folder(folder, option)
    path = Path(folder)
    tensors = {name: value.detach().numpy() for name, value in model.module.state_dict().items()}
    files = {
        WEIGHTS: save(tensors, {"format": "pt"}),
        ENCODING: encoding_text(model).encode(),
        CARD: card.encode("utf-8", "replace"),
    }
    if model.training_rows is not None:
        files[TRAINING] = summary_text(model.training_rows).encode()
    sums = "".join(f"{hashlib.sha256(held).hexdigest()}  {name}\n" for name, held in sorted(files.items()))
    part = path.absolute().with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.mkdir()
        for name, held in {**files, DIGESTS: sums.encode()}.items():
            (part / name).write_bytes(held)
        if path.is_dir():
            path.rmdir()
        part.replace(path)
    except OSError as error:
        raise SettingsError(f"cannot write the model to {folder}: {error.strerror or error}") from None
    finally:
        with suppress(FileNotFoundError):
            shutil.rmtree(part)
    return path


def load_model(folder: str | Path) -> TableModel:
    """Read a saved model, after a check that no file of it has changed.

    Args:
        folder: as `--save-model` wrote it.

    Raises:
        DataError: it is no such folder, or a file of it is missing or has changed.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> import picsc
        >>> from sklearn.datasets import load_iris
        >>> x, y = load_iris(return_X_y=True)
        >>> with TemporaryDirectory() as folder:
        ...     _ = picsc.PicscClassifier(epochs=20).fit(x, y).save(Path(folder) / "model")
        ...     model = picsc.load_model(Path(folder) / "model")
        >>> len(model.predict(x[:5]))
        5
    """
    path = Path(folder)
    files = _checked_files(path)
    try:
        tensors = load(files[WEIGHTS])
    except (SafetensorError, ValueError, KeyError) as error:
        raise DataError(f"{path / WEIGHTS} holds no weights ({error}); save the model again") from None
    summary = None
    if TRAINING in files:
        summary = summary_of_text(_text(files[TRAINING], path / TRAINING), str(path / TRAINING))
    encoding = _text(files[ENCODING], path / ENCODING)
    model = model_of_text(encoding, np.empty(0, np.float32), summary, str(path / ENCODING))
    module = mlp(len(model.encoder.names), model.target.outputs, model.hidden, seed=0)
    try:
        module.load_state_dict({name: torch.from_numpy(np.array(value)) for name, value in tensors.items()})
    except RuntimeError:
        raise DataError(f"{path / WEIGHTS} holds weights of another network than {ENCODING} describes") from None
    theta = parameters_to_vector(module.parameters()).detach().numpy()
    return model.with_theta(theta)


def digest_of(folder: str | Path) -> str:
    """SHA-256 of the digests of a saved model: one name for all of it."""
    return hashlib.sha256((Path(folder) / DIGESTS).read_bytes()).hexdigest()


def _checked_files(path: Path) -> dict[str, bytes]:
    """The content of every file of a model, by name.

    Raises:
        DataError: there is no model, or it is not as it was saved.
    """
    again = "save the model again, or copy the folder anew"
    try:
        sums = (path / DIGESTS).read_text(encoding="utf-8")
    except (OSError, ValueError):
        raise DataError(
            f"{path} holds no model: it has no file {DIGESTS}; name a folder that --save-model wrote"
        ) from None
    lines = (line.partition("  ") for line in sums.splitlines())
    wanted = {name: digest for digest, _, name in lines}
    lacking = [name for name in (WEIGHTS, ENCODING, CARD) if name not in wanted]
    if lacking:
        raise DataError(f"{path / DIGESTS} has no digest of {listed(lacking)}; {again}")
    files: dict[str, bytes] = {}
    for name in (WEIGHTS, ENCODING, CARD, TRAINING):
        if name not in wanted:
            continue
        try:
            files[name] = (path / name).read_bytes()
        except OSError as error:
            raise DataError(f"{path / name} cannot be read ({error.strerror or error}); {again}") from None
        found = hashlib.sha256(files[name]).hexdigest()
        if found != wanted[name]:
            raise DataError(
                f"{path / name} has changed since the model was saved: its SHA-256 is {found[:12]}..., and {DIGESTS} "
                f"says {wanted[name][:12]}...; {again}"
            )
    return files


def _text(held: bytes, where: Path) -> str:
    try:
        return held.decode()
    except UnicodeDecodeError:
        raise DataError(f"{where} is no UTF-8; save the model again") from None
