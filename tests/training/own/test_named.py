"""Models by the names that `--model` gives."""

from pathlib import Path

import numpy as np
import pytest
import sklearn
import torch
from sklearn.ensemble import RandomForestClassifier
from torch import nn

from picsc.errors import SettingsError
from picsc.settings import TrainSettings, validated
from picsc.training.own.named import OwnModel, options_of, own_model

OWN = Path(__file__).parents[2] / "data" / "own_model.py"


def named(name: str, *options: str) -> OwnModel:
    found = own_model(validated(TrainSettings, model=name, model_options=options))
    assert found is not None
    return found


def test_the_papers_networks_are_none_of_the_users() -> None:
    assert own_model(TrainSettings()) is None
    assert own_model(TrainSettings(model="mlp")) is None


def test_a_class_of_scikit_learn_by_its_path_with_options_and_the_seed() -> None:
    own = named("sklearn:ensemble.RandomForestClassifier", "n_estimators=7", "max_features=[a, 2]", "bootstrap=no")
    assert own.kind == "estimator"
    made = own.made(seed=11, inputs=3, outputs=2)
    assert isinstance(made, RandomForestClassifier)
    assert (made.n_estimators, made.max_features, made.bootstrap) == (7, ["a", 2], False)
    assert made.random_state == 11
    full = named("sklearn.ensemble.RandomForestClassifier", "random_state=5").made(seed=11, inputs=3, outputs=2)
    assert full.random_state == 5
    assert own.manifest == {
        "import": "sklearn.ensemble.RandomForestClassifier",
        "version": f"scikit-learn {sklearn.__version__}",
        "kind": "estimator",
    }


def test_a_function_of_a_file_is_told_the_shape_and_makes_the_same_weights_by_seed() -> None:
    before, drawn = torch.random.get_rng_state(), np.random.get_state()[1]  # noqa: NPY002
    own = named(f"{OWN}:make", "hidden=5")
    assert own.kind == "module"
    first, again, other = (own.made(seed=seed, inputs=3, outputs=4) for seed in (1, 1, 2))
    assert isinstance(first, nn.Sequential)
    assert [tuple(each.shape) for each in first.parameters()] == [(5, 3), (5,), (5, 5), (5,), (4, 5), (4,)]
    assert torch.equal(first[0].weight, again[0].weight)
    assert not torch.equal(first[0].weight, other[0].weight)
    assert torch.equal(before, torch.random.get_rng_state())
    assert np.array_equal(drawn, np.random.get_state()[1])  # noqa: NPY002
    assert own.manifest["file"] == "own_model.py"
    assert own.manifest["function"] == "make"
    assert len(own.manifest["sha256"]) == 64


def test_options_are_yaml() -> None:
    assert options_of(("a=3", "b=[1, 2]", "c=x", "d=", "e=a=b")) == {
        "a": 3,
        "b": [1, 2],
        "c": "x",
        "d": None,
        "e": "a=b",
    }
    with pytest.raises(SettingsError, match="the value is no YAML"):
        options_of(("a=[1",))
    whole = validated(TrainSettings, model="a.B", model_options=("sizes=[10", "5]", "k=1"))
    assert whole.model_options == ("sizes=[10,5]", "k=1")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("sklearn:ensemble.NoSuchForest", "sklearn.ensemble has no class or function 'NoSuchForest'"),
        ("no_such_package.Model", "importing no_such_package failed: No module named"),
        (f"{OWN}:missing", r"has no function 'missing'; it has .*make"),
        ("nowhere.py:make", "there is no file .*nowhere.py"),
        (f"{OWN}:number", "it makes 'int', which is no model"),
        ("math.sqrt", "it could not be made: "),
        ("resnet", "must be auto, lenet or mlp, or a model of your own"),
        ("own.py:", "must be auto, lenet or mlp, or a model of your own"),
    ],
)
def test_what_is_no_model_is_one_sentence(name: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        named(name)


def test_options_of_no_model_and_without_a_value() -> None:
    with pytest.raises(SettingsError, match="add --model"):
        validated(TrainSettings, model_options=("a=1",))
    with pytest.raises(SettingsError, match="must be KEY=VALUE"):
        validated(TrainSettings, model="a.B", model_options=("depth 3",))
    with pytest.raises(SettingsError, match=r"it could not be made: .*depth"):
        named("sklearn:ensemble.RandomForestClassifier", "depth=3")


def test_a_file_that_fails(tmp_path: Path) -> None:
    file = tmp_path / "broken.py"
    file.write_text("raise RuntimeError('no licence')\n")
    with pytest.raises(SettingsError, match=r"broken\.py failed: no licence"):
        named(f"{file}:make")
