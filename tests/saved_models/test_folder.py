"""The folder of a saved model: what comes back, to the bit, and what is refused."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

import picsc
from picsc.saved_models.folder import save_model

QUICK: dict[str, Any] = {"strength": 0.1, "epochs": 30}


def frame(n: int = 200) -> pd.DataFrame:
    """Numbers, words with rare levels, truth values, dates and free text, with gaps."""
    generator = np.random.default_rng(0)
    colour = np.where(generator.random(n) < 0.01, "rare", generator.choice(["red", "green"], n))
    text = [f"a text of {'very ' * int(k)}many words {i}" for i, k in enumerate(generator.integers(0, 9, n))]
    return pd.DataFrame(
        {
            "size": np.where(generator.random(n) < 0.1, np.nan, generator.normal(20, 5, n)),
            "colour": np.where(generator.random(n) < 0.1, None, colour),
            "sold": generator.random(n) < 0.5,
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(generator.integers(0, 400, n), "D"),
            "words": text,
        }
    )


TARGETS = {
    "two classes": lambda x: np.where(x["size"].fillna(20) > 20, 1, 0),
    "words": lambda x: np.where(x["size"].fillna(20) > 20, "=late", "früh, sehr"),
    "many classes": lambda x: (x["size"].fillna(20) // 4).astype(int).to_numpy() - 2,
    "numbers": lambda x: 3 * x["size"].fillna(20).to_numpy() - 1000,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    x = frame()
    return picsc.PicscClassifier(**QUICK).fit(x, TARGETS["words"](x)).save(tmp_path / "model")


@pytest.mark.parametrize("target", TARGETS)
def test_predictions_come_back_to_the_bit(target: str, tmp_path: Path) -> None:
    x = frame()
    y = TARGETS[target](x)
    kind = picsc.PicscRegressor if target == "numbers" else picsc.PicscClassifier
    model = kind(hidden=3, **QUICK).fit(x, y)
    loaded = picsc.load_model(model.save(tmp_path / "model"))
    new = frame(50).sample(frac=1, random_state=1)[["when", "words", "colour", "sold", "size"]].assign(more=1)
    own = new[["size", "colour", "sold", "when", "words"]]
    assert (loaded.predict(new) == model.predict(own)).all()
    assert loaded.predict(new).dtype.kind == np.asarray(y).dtype.kind
    if target != "numbers":
        assert loaded.classes.tolist() == [y[i] for i in np.sort(np.unique(y, return_index=True)[1])]
        order = [model.classes_.tolist().index(each) for each in loaded.classes]
        assert (loaded.predict_proba(new) == model.predict_proba(own)[:, order]).all()
    else:
        with pytest.raises(picsc.DataError, match="is a number, which has no probabilities"):
            loaded.predict_proba(new)


def test_the_module_is_plain_and_can_be_exported(folder: Path) -> None:
    model = picsc.load_model(folder)
    x = frame(30)
    inputs = model.encode(x)
    exported = torch.export.export(model.module, (inputs,)).module()
    chances = exported(inputs).softmax(1).detach().numpy()
    assert chances == pytest.approx(model.predict_proba(x), abs=1e-5)
    assert {type(layer) for layer in model.module} == {torch.nn.Linear, torch.nn.ReLU}


def test_no_row_and_no_program_is_in_the_folder(folder: Path) -> None:
    assert {file.name for file in folder.iterdir()} == {
        "SHA256SUMS", "encoding.json", "model-card.md", "training-rows.json", "weights.safetensors",
    }  # fmt: skip
    for line in (folder / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ")
        assert digest == hashlib.sha256((folder / name).read_bytes()).hexdigest()
    held = b"".join(file.read_bytes() for file in folder.iterdir())
    assert b"many words 17" not in held
    assert b"pickle" not in held.lower()
    card = (folder / "model-card.md").read_text()
    assert "Algorithm 1 on 5 fragments, made of them" in card
    assert "| epochs | 30 |" in card


@pytest.mark.parametrize("name", ["weights.safetensors", "encoding.json", "model-card.md", "training-rows.json"])
def test_a_changed_file_is_refused_by_its_digest(name: str, folder: Path) -> None:
    changed = bytearray((folder / name).read_bytes())
    changed[-2] ^= 1
    (folder / name).write_bytes(bytes(changed))
    with pytest.raises(picsc.DataError, match=rf"{name} has changed since the model was saved: its SHA-256 is"):
        picsc.load_model(folder)
    (folder / name).unlink()
    with pytest.raises(picsc.DataError, match=rf"{name} cannot be read \(No such file"):
        picsc.load_model(folder)


def test_what_is_no_model_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(picsc.DataError, match="holds no model: it has no file SHA256SUMS"):
        picsc.load_model(tmp_path)
    held = json.loads((folder / "encoding.json").read_text())
    for change, sentence in (
        ({"schema": "picsc.model/9"}, "is of the form 'picsc.model/9'"),
        ({"hidden": 9}, "holds weights of another network"),
        ({"columns": 3}, "is no encoding of a model of picsc"),
    ):
        text = json.dumps({**held, **change}).encode()
        (folder / "encoding.json").write_bytes(text)
        sums = (folder / "SHA256SUMS").read_text().splitlines()
        kept = [line for line in sums if not line.endswith("encoding.json")]
        (folder / "SHA256SUMS").write_text(
            "\n".join([*kept, f"{hashlib.sha256(text).hexdigest()}  encoding.json"]) + "\n"
        )
        with pytest.raises(picsc.DataError, match=sentence):
            picsc.load_model(folder)


def test_a_model_is_written_whole_or_not_at_all(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = picsc.load_model(folder)
    with pytest.raises(picsc.SettingsError, match="it exists already; name a folder that does not"):
        save_model(model, folder, "card")
    with pytest.raises(picsc.SettingsError, match="does not exist; make it first"):
        save_model(model, tmp_path / "a" / "b", "card")
    (tmp_path / "empty").mkdir()
    assert save_model(model, tmp_path / "empty", "card").is_dir()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(picsc.SettingsError, match=r"cannot write the model to .*: No space left on device"):
        save_model(model, tmp_path / "other", "card")
    assert {each.name for each in tmp_path.iterdir()} == {"model", "empty"}


def test_a_model_along_batches_is_saved_without_counts(tmp_path: Path) -> None:
    x = frame()
    y = TARGETS["two classes"](x)
    model = picsc.PicscClassifier(**QUICK)
    for rows in (slice(0, 100), slice(100, 200)):
        model.partial_fit(x[rows], y[rows], classes=[0, 1])
    folder = model.save(tmp_path / "model")
    assert (picsc.load_model(folder).predict(x) == model.predict(x)).all()
    assert not (folder / "training-rows.json").exists()
    assert "200 rows" in (folder / "model-card.md").read_text()
