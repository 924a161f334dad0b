"""Methods of one run: those asked for, and the controls that come with them."""

from __future__ import annotations

from picsc.comparison.transfer_tasks import TransferPlan
from picsc.datasets.table import Dataset
from picsc.errors import SettingsError
from picsc.settings import COMPARE_METHODS, CompareMethod, CompareSettings
from picsc.training.own.applies import OF_COMPARE

CONTROLS: dict[CompareMethod, tuple[CompareMethod, ...]] = {
    "picsc": ("weight-decay", "carried", "picsc-random"),
    "iwcv": ("cv-choice",),
    "diw": ("pooled",),
}
"""Controls that run with a method, so that the report shows the cause of a difference."""


def methods_to_run(
    settings: CompareSettings, plan: TransferPlan, table: Dataset, *, gradients: bool = True
) -> list[CompareMethod]:
    """All methods of the run, in the order of the report.

    Args:
        settings: names the methods asked for.
        plan: tasks; where all of their fragments are random, picsc needs no control with random ones.
        table: the labelled rows.
        gradients: False for estimators, which have only methods without any.

    Raises:
        SettingsError: a method needs an option or a target column that the run does not have.
    """
    wanted: set[CompareMethod] = {"st-cv", *settings.methods}
    for method in settings.methods:
        if gradients:
            wanted |= set(CONTROLS.get(method, ()))
    if all(task.random_fragments for task in plan.tasks):
        wanted.discard("picsc-random")
    if settings.bias is not None and wanted & {"iw", "iwcv", "kmm", "ulsif", "rulsif"}:
        wanted.add("true-ratio")
    if "true-ratio" in wanted and settings.bias is None:
        raise SettingsError("--method true-ratio: the true density ratio is known only with --bias")
    if "dob-scv" in wanted:
        if settings.cut.folds is None or not settings.in_turn:
            raise SettingsError("--method dob-scv is a way to cut folds: give --folds")
        if table.target is None or table.target.kind != "classes":
            raise SettingsError("--method dob-scv cuts by classes, and the target holds numbers; leave it out")
    if not gradients:
        wanted -= set(OF_COMPARE)
    return [name for name in COMPARE_METHODS if name in wanted]
