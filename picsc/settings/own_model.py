"""The settings of the model: the paper's networks, or one of the user's own."""

from __future__ import annotations

from typing import Annotated, get_args

from pydantic import field_validator, model_validator

from picsc.settings.base import Settings
from picsc.settings.choices import ImageModel
from picsc.settings.option import Option


class ModelSettings(Settings):
    """The model of a verb, by name, and its options."""

    model: Annotated[
        str,
        Option(
            "Runs your own model: sklearn:NAME or FILE.py:FUNC.",
            "NAME",
            "Training",
            verbs={"audit": {"help": "Runs your own reference model: FILE.py:FUNC.", "panel": "Verdict"}},
        ),
    ] = "auto"
    """Model that is trained; of an audit the reference model, which must be a torch.nn.Module. auto is the paper's
    network; of images, lenet, and mlp has one hidden layer of 64 units. Of tables also a model of your own, whose code
    runs only because you name it: `sklearn:ensemble.NAME` or `package.module.NAME` is a class by its import path,
    `FILE.py:FUNCTION` a function that returns an estimator or a torch.nn.Module. The function may have the parameters
    `inputs` and `outputs`, the numbers of encoded columns and of classes (1 for numbers)."""
    model_options: Annotated[
        tuple[str, ...],
        Option(
            "Option of your own model, such as max_depth=3.",
            "K=V",
            "Training",
            flag="--model-option",
            verbs={"audit": {"panel": "Verdict", "after": "model"}},
            after="train.model",
        ),
    ] = ()
    """Options of a model of your own, KEY=VALUE each, with values as YAML has them: arguments of the class or the
    function."""

    @field_validator("model_options", mode="before")
    @classmethod
    def _whole_options(cls, values: object) -> object:
        """Options whose values hold commas, such as [10, 5], are put together again."""
        if not isinstance(values, list | tuple):
            return values
        found: list[str] = []
        for value in map(str, values):
            if "=" in value or not found:
                found.append(value)
            else:
                found[-1] += f",{value}"
        return tuple(found)

    @property
    def own(self) -> bool:
        """True for a model of the user."""
        return self.model not in get_args(ImageModel)

    @model_validator(mode="after")
    def _known_model(self) -> ModelSettings:
        file, colon, function = self.model.rpartition(":")
        is_file = bool(colon) and file.endswith(".py") and function.isidentifier()
        path = self.model.removeprefix("sklearn:")
        named = "." in path and all(part.isidentifier() for part in path.split("."))
        if self.own and not is_file and not named:
            raise ValueError(
                f"--model {self.model}: must be auto, lenet or mlp, or a model of your own: sklearn:ensemble.NAME, "
                "package.module.NAME or FILE.py:FUNCTION"
            )
        wrong = [option for option in self.model_options if not option.partition("=")[0].strip().isidentifier()]
        if wrong:
            raise ValueError(f"--model-option {wrong[0]}: must be KEY=VALUE, such as max_depth=3")
        if self.model_options and not self.own:
            raise ValueError("--model-option is for a model of your own: add --model")
        return self
