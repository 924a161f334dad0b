"""The report of a federation of real clients: that of `picsc fed`, without what needs the rows of all clients."""

from __future__ import annotations

from collections.abc import Mapping

from picsc.federated.flower.rounds_on_nodes import NodesRun
from picsc.federated.flower.schema import Agreed
from picsc.federated.holdings import participants
from picsc.federated.method_summary import Comparison, method_report
from picsc.federated.three_lines import three_lines
from picsc.reports.common import ColumnInfo, DataInfo, Finding
from picsc.reports.fed import ClientShift, FedReport
from picsc.settings import FedSettings

NOT_TESTED = "not tested: nobody has the rows of all clients"


def nodes_report(found: NodesRun, settings: FedSettings, manifest: Mapping[str, object]) -> FedReport:
    """Summarise the runs of real clients.

    Args:
        found: the runs.
        settings: of the federation.
        manifest: of the run.
    """
    clients, repeats = tuple(found.said), settings.repeats or 1
    data = _data(found.agreed, sum(table.rows for table in found.said.values()))
    first = next(iter(found.runs.values()))[0]
    taking_part = participants(settings, len(clients))
    target = settings.target_accuracy
    if target is None and "fedavg" in found.runs:
        ends = [float(run.accuracy[-1]) for run in found.runs["fedavg"]]
        target = None if any(end != end for end in ends) else sum(ends) / len(ends)
    comparison = Comparison(target, taking_part, settings.validation, resampled=True, metric=data.metric)
    methods = tuple(method_report(method, found.runs, comparison) for method in found.runs)
    shifts = tuple(
        ClientShift(
            name, table.rows, None, None, labels_shifted=False, covariates=None, covariate_kl=None, reason=NOT_TESTED
        )
        for name, table in found.said.items()
    )
    scores, second, third = three_lines(methods, shifts, data.metric, None)
    if not any(method.failures for method in methods):
        third = f"whether the {len(clients)} clients differ was {NOT_TESTED}"
    finding = Finding(
        "real-clients",
        "note",
        "the clients are real ones: how they differ, balanced accuracy and the area under the ROC curve were not "
        "computed, because they need the rows or scores of all clients",
    )
    return FedReport(
        data=data,
        clients=shifts,
        partition=f"{len(clients)} real clients",
        model=f"mlp of {first.parameters:,} parameters",
        rounds=settings.rounds,
        repeats=repeats,
        participants=taking_part,
        target=target,
        judged=f"{100 * settings.validation:g} % of every client's rows",
        methods=methods,
        findings=(finding,),
        test="over seeds: corrected resampled t-test, 95 % t-interval",
        summary=(scores, second, third),
        settings=settings.model_dump(mode="json", exclude={"jobs"}),
        manifest=dict(manifest),
    )


def _data(agreed: Agreed, rows: int) -> DataInfo:
    """What all clients agreed on, as a table that nobody has."""
    target = agreed.target
    classes = len(target.levels) if target.kind == "classes" else None
    columns = [
        ColumnInfo(each.name, str(each.kind), 0, len(each.levels) or None, used=True, note="")
        for each in agreed.columns
    ]
    return DataInfo(
        name="federation",
        source="the clients' own files",
        rows=rows,
        target=target.name,
        target_chosen="agreed by the clients",
        task="classification" if classes is not None else "regression",
        classes=classes,
        columns=(*columns, ColumnInfo(target.name, target.kind, 0, classes, used=True, note="target")),
        sha256="",
    )
