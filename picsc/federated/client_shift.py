"""Differences between the clients of a federation: in their labels, and in their covariates beyond that.

A partition by labels moves the covariates, too, since they depend on the label. So that nobody takes label shift for
covariate shift, the two are tested apart, both with the statistics and the verdicts of `picsc audit`: labels with a
null that permutes rows freely, covariates within classes with a null that permutes rows of one class.

Letters: n rows, K clients that are audited.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from picsc.auditing.attribution.attribute import attribute
from picsc.auditing.design import Design, Piece
from picsc.auditing.exchangeability import Contrast, Ints, PermutationScheme, subsample
from picsc.auditing.image_view import image_features
from picsc.auditing.ks_and_g_tests import code_levels
from picsc.auditing.multiplicity import evidence, step_down
from picsc.auditing.null_statistics import rows_of, target_of
from picsc.auditing.permutations import label_draws
from picsc.auditing.piece_tests import ComparedRows, run_piece_tests
from picsc.auditing.pixel_statistics import pixel_columns
from picsc.auditing.table_view import audit_table, table_of
from picsc.auditing.within_classes import strata_of, within_classes
from picsc.datasets.images import ImageSet
from picsc.datasets.rows import take
from picsc.reports.fed import ClientShift
from picsc.runtime.threads import one_thread
from picsc.settings import AuditSettings
from picsc.simulation.feature_noise import with_feature_noise

if TYPE_CHECKING:
    from collections.abc import Callable

    from picsc.auditing.null_statistics import TestInputs
    from picsc.datasets.table import Dataset
    from picsc.fragments import Fragment
    from picsc.reports.audit import FragmentReport
    from picsc.reports.common import Verdict

MOST_ROWS = 20_000
"""Most rows that are audited; of more, a random sample, proportional by client and class."""
DRAWS = 499
"""Number of permutations, fewer than the audit's: clients are tested in every run."""
MOST_CLIENTS = 200
"""Most clients that are audited, the largest ones; the others belong to the rows that these are compared with."""

_STRATUM = "stratum"


class _LabelTest(NamedTuple):
    """The test of one client's labels against all others'; None where there is no target."""

    kl: float | None
    """KL divergence, nats."""
    effect: float | None
    """Total variation distance of the classes, or KS distance of a numeric target, in [0, 1]."""
    p: float | None
    """p-value, adjusted over clients."""


class _TestView(Protocol):
    """Function from rows to the inputs of the tests: `audit_table` or `ImageFeatures.table`, with their seed."""

    def __call__(self, dataset: Dataset, covariates: Dataset | None = None, /) -> TestInputs: ...


def client_shifts(
    data: Dataset | ImageSet,
    clients: Sequence[Fragment],
    *,
    noise: NDArray[np.float64] | None,
    seed: int,
    jobs: int,
) -> tuple[ClientShift, ...]:
    """Test each client's labels, and its covariates within classes, against all other clients'.

    Reading: the paper takes a split of labels for covariate shift. We call covariate shift only what is left when the
        null permutes rows of one class (of one tenth of a numeric target), and numbers are ranked within it. Each of
        the two questions has a family-wise error rate of 5 % over clients.

    Args:
        data: a table, or images, of which the features of `picsc audit` and the columns of
            `picsc.auditing.pixel_statistics` are tested; of a table without columns, labels alone are tested.
        clients: two or more disjoint sets of rows.
        noise: (clients,) standard deviation of each client's feature noise, see `picsc.simulation.feature_noise`; None
            for none.
        seed: of samples, draws and models.
        jobs: number of processes; never changes a result.

    Returns:
        One result per client, in their order.

    Raises:
        DataError: LeNet cannot be trained on the images.
    """
    audited_rows, labels, position = _audited_rows(data, clients, noise, seed)
    found = [_not_audited(client, len(clients)) for client in clients]
    tested = len(position)
    if tested < 2 and int(labels.max(initial=0)) < 1:
        return tuple(found)
    contrast = Contrast(int(labels.max()) + 1, tuple(range(tested)), "rest")
    settings = AuditSettings(seed=seed, jobs=jobs, draws=DRAWS)
    dataset, table = _test_view(audited_rows, seed)
    sizes = np.bincount(labels, minlength=contrast.labels)
    pieces = tuple(Piece(clients[i].name, int(sizes[k]), k) for k, i in enumerate(position))
    target = dataset.target
    scheme = PermutationScheme()
    within: Callable[[Dataset], TestInputs] = table
    label_tests: Sequence[_LabelTest] = [_LabelTest(None, None, None)] * tested
    if target is not None and not target.missing.all():
        label_tests = _test_labels(dataset, labels, contrast, settings)
        strata = strata_of(target)
        scheme = PermutationScheme(strata=strata)
        dataset = replace(dataset, keys={_STRATUM: strata})
        within = _within_classes(table, int(strata.max()) + 1, seed)
    if not dataset.columns:
        for i, piece, label_test in zip(position, pieces, label_tests, strict=True):
            found[i] = _labels_alone(clients[i], piece.rows, label_test, settings)
        return tuple(found)
    design, rows = Design(labels, contrast, scheme, pieces), ComparedRows(dataset, within, own_units=False)
    tests = attribute(run_piece_tests(rows, design, settings), rows, design, settings)
    for i, report, label_test in zip(position, tests.reports, label_tests, strict=True):
        found[i] = _shift(clients[i], report, label_test, settings, "" if target is None else target.name)
    return tuple(found)


def _audited_rows(
    data: Dataset | ImageSet, clients: Sequence[Fragment], noise: NDArray[np.float64] | None, seed: int
) -> tuple[Dataset | ImageSet, Ints, tuple[int, ...]]:
    """Rows that are audited, the label of each, and the client that each label stands for.

    One label more, where there is one, stands for all other clients.
    """
    if noise is not None:
        data = with_feature_noise(data, clients, noise, seed=seed)
    sizes = np.array([len(client.rows) for client in clients])
    largest = np.sort(np.argsort(-sizes, kind="stable")[:MOST_CLIENTS])
    label = np.full(len(clients), len(largest))
    label[largest] = np.arange(len(largest))
    of_row = np.full(data.n, -1, np.int64)
    for k, client in zip(label.tolist(), clients, strict=True):
        of_row[client.rows] = k
    rows = np.flatnonzero(of_row >= 0)
    strata = _strata(data)
    scheme = PermutationScheme(strata=None if strata is None else strata[rows])
    rows = rows[subsample(of_row[rows], scheme, rows=MOST_ROWS, seed=seed)]
    present, labels = np.unique(of_row[rows], return_inverse=True)  # a small client may have no row in the sample
    position = tuple(int(largest[k]) for k in present if k < len(largest))
    if data.kind == "images":
        kept = replace(data, pixels=data.pixels[rows], labels=data.labels[rows], test=np.zeros(0, np.int64))
        return kept, labels.reshape(-1).astype(np.int64), position
    return take(data, rows), labels.reshape(-1).astype(np.int64), position


def _strata(data: Dataset | ImageSet) -> Ints | None:
    if data.kind == "images":
        return data.labels
    return None if data.target is None else strata_of(data.target)


def _test_view(data: Dataset | ImageSet, seed: int) -> tuple[Dataset, _TestView]:
    """The rows, and the function that makes the inputs of the tests from some of them."""
    if data.kind == "images":
        features = image_features(data, seed=seed)
        units = len(features.dataset.columns)
        dataset = replace(features.dataset, columns=(*features.dataset.columns, *pixel_columns(data.pixels)))

        def table(rows: Dataset, covariates: Dataset | None = None, /) -> TestInputs:
            return features.table(replace(rows, columns=rows.columns[:units]), covariates or rows)

        return dataset, table
    return data, lambda rows, covariates=None: audit_table(rows, seed=seed, covariates=covariates)


def _within_classes(table: _TestView, strata: int, seed: int) -> Callable[[Dataset], TestInputs]:
    """Inputs of the tests: columns within classes, and a target that the null cannot move."""

    def within(rows: Dataset) -> TestInputs:
        stratum = rows.keys[_STRATUM].astype(np.int64)  # that of all rows, also where only some are compared
        inputs = table(rows, within_classes(rows, stratum, seed=seed))
        others = tuple(each for each in inputs.beside if rows.target is None or each.coded.name != rows.target.name)
        return replace(inputs, target=code_levels("target", stratum, strata), beside=others)

    return within


def _test_labels(dataset: Dataset, labels: Ints, contrast: Contrast, settings: AuditSettings) -> list[_LabelTest]:
    """KL, effect and corrected p-value of each client's labels: the audit's test of the target with a free null."""
    bare = replace(dataset, columns=(), left_out=())
    no_columns = np.zeros((dataset.n, 0), np.float32)
    inputs = table_of(bare, no_columns, no_columns, None)
    with one_thread():
        null = label_draws(
            inputs.contributions,
            Design(labels, contrast, PermutationScheme()),
            rows=dataset.n,
            draws=settings.first_draws,
            seed=settings.seed,
        )
        test, statistic, _ = target_of(inputs, null, rows_of(inputs, null))
        p = step_down(evidence(statistic).value).tolist()
    tests = zip(test.kl.tolist(), np.nan_to_num(test.effect).tolist(), p, strict=True)
    return [_LabelTest(*each) for each in tests]


def _not_audited(client: Fragment, clients: int) -> ClientShift:
    reason = (
        f"not audited: only the {MOST_CLIENTS} largest of {clients} clients are"
        if clients > MOST_CLIENTS
        else "not audited: no row of it is in the sample"
        if clients > 1
        else "not audited: one client has nothing to be compared with"
    )
    return ClientShift(
        name=client.name,
        rows=len(client.rows),
        audited=0,
        label_kl=None,
        label_effect=None,
        label_p=None,
        labels_shifted=False,
        covariates="inconclusive",
        covariate_kl=None,
        concept_shifted=False,
        reason=reason,
    )


def _shift(
    client: Fragment,
    report: FragmentReport,
    label_test: _LabelTest,
    settings: AuditSettings,
    target: str,
) -> ClientShift:
    shifted = _labels_shifted(label_test, settings)
    moved = report.cell in ("data only", "both")
    concept = report.cell in ("model only", "both")
    covariates: Verdict = "shift" if moved else "inconclusive" if report.verdict == "inconclusive" else "ok"
    reasons = [f"label shift: P({target}) differs by {label_test.effect:.2f}"] if shifted else []
    if moved or covariates == "inconclusive":
        reasons.append(f"within classes, {report.reason}" if shifted and moved else report.reason)
    elif concept:
        agree = "agree" if not report.significant("data", settings.level) else "differ by less than is called a shift"
        reasons.append(f"concept shift: within classes the covariates {agree}, but not what a model learns from them")
    elif shifted:
        reasons.append("no covariate shift beyond it")
    elif report.reason:
        reasons.append(report.reason)
    return ClientShift(
        name=client.name,
        rows=len(client.rows),
        audited=report.rows,
        label_kl=label_test.kl,
        label_effect=label_test.effect,
        label_p=label_test.p,
        labels_shifted=shifted,
        covariates=covariates,
        covariate_kl=report.kl,
        concept_shifted=concept,
        reason="; ".join(reasons),
    )


def _labels_alone(client: Fragment, audited: int, label_test: _LabelTest, settings: AuditSettings) -> ClientShift:
    """A client whose rows have no columns."""
    return ClientShift(
        name=client.name,
        rows=len(client.rows),
        audited=audited,
        label_kl=label_test.kl,
        label_effect=label_test.effect,
        label_p=label_test.p,
        labels_shifted=_labels_shifted(label_test, settings),
        covariates="inconclusive",
        covariate_kl=None,
        concept_shifted=False,
        reason="there are no columns to audit; --audit-only compares what a model makes of the rows",
    )


def _labels_shifted(label_test: _LabelTest, settings: AuditSettings) -> bool:
    _, effect, p = label_test
    return p is not None and effect is not None and bool(p <= settings.level and effect >= settings.smallest.distance)
