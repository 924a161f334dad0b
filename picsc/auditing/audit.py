"""The verb `audit`: cut one table or set of images, test every piece, and report which are shifted and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from picsc.auditing.attribution.attribute import attribute
from picsc.auditing.cutting import cut_data
from picsc.auditing.design import build_design, compared_rows
from picsc.auditing.effects.column_bounds import check_column_settings
from picsc.auditing.effects.distributions import distributions
from picsc.auditing.effects.matrix import column_effects
from picsc.auditing.image_view import refuse_table_options
from picsc.auditing.piece_tests import ComparedRows, run_piece_tests
from picsc.auditing.report import audit_report
from picsc.datasets.canonical_order import canonical
from picsc.datasets.columns.precision import at_common_precision
from picsc.datasets.data import Data
from picsc.datasets.files.libsvm import libsvm_choices
from picsc.datasets.files.many import may_be_parts
from picsc.datasets.images import ImageSet
from picsc.datasets.memory import with_labels_of
from picsc.datasets.open import open_data
from picsc.datasets.order_columns import without_order_between, without_order_columns
from picsc.datasets.reference_file import load_reference, opened_alike, reference_in_memory
from picsc.datasets.schema import match_columns
from picsc.datasets.texts import no_text
from picsc.datasets.together import read_together
from picsc.errors import DataError, SettingsError
from picsc.fragments.duplicates import rows_in_both
from picsc.fragments.given_splits import cut_by_splits
from picsc.reports.audit import AuditReport
from picsc.settings import AuditSettings
from picsc.settings.by_keyword import from_keywords
from picsc.settings.in_python import in_keywords

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from sklearn.base import BaseEstimator
    from sklearn.model_selection import BaseCrossValidator

    from picsc.datasets.memory import Frame
    from picsc.datasets.table import Dataset
    from picsc.fragments.pieces import Cut
    from picsc.settings import ReadSettings
    from picsc.settings.keywords import AuditKeywords


def audit(
    data: Frame | ImageSet | ArrayLike | str | Path,
    y: ArrayLike | None = None,
    *,
    settings: AuditSettings | None = None,
    reference: str | Path | Frame | ArrayLike | tuple[Frame | ArrayLike, ArrayLike] | None = None,
    cv: BaseCrossValidator
    | BaseEstimator
    | Mapping[str, Any]
    | Iterable[tuple[ArrayLike, ArrayLike]]
    | int
    | None = None,
    groups: ArrayLike | None = None,
    progress: Callable[[str], None] | None = None,
    **keywords: Unpack[AuditKeywords],
) -> AuditReport:
    """Cut one table into pieces and report of each whether it is shifted: did the data move, and does the model care?

    Args:
        data: a frame (of pandas, polars, pyarrow or whatever exports Arrow data), the path of a file, an array of shape
            (n, f), or images: an `ImageSet` or an array of shape (n, s, s) or (n, c, s, s), see
            `picsc.auditing.image_view`.
        y: labels of shape (n,) of a frame or an array, by position; their name, or `target`, is the target's.
        settings: all settings at once; keywords win over them. None is the defaults.
        reference: rest, previous, first, the path of a file, or data as `data`; with `y`, a frame that has the target
            as a column, or a tuple (data, y). None is what the settings say.
        cv: pieces from elsewhere: a splitter of scikit-learn, whose test rows are the pieces, or pairs of training and
            test rows; what scikit-learn's `cross_validate` returned with `return_indices`, or a fitted search. None is
            what the settings say.
        groups: (n,) group of each row, for a splitter that keeps groups together.
        progress: called with a few words whenever a new step begins.
        keywords: single settings by name (folds, by, level, ...): `picsc.settings.keywords.AuditKeywords` and
            docs/settings.md list them all.

    Returns:
        The report that `picsc audit` prints.

    Raises:
        PicscError: the settings or the data cannot be used; the message says what to do.

    Example:
        >>> import picsc
        >>> from sklearn.datasets import load_iris
        >>> flowers = load_iris(as_frame=True).frame  # 50 rows of each species, one after another
        >>> report = picsc.audit(flowers, target="target", folds=3, splitter="kfold", draws=199)
        >>> report.verdict, [piece.name for piece in report.shifted]
        ('shift', ['fold 1', 'fold 2', 'fold 3'])
        >>> picsc.audit(flowers, target="target", folds=3, draws=199).verdict  # stratified, by default
        'ok'
    """
    named: dict[str, object] = {**keywords}
    if reference is not None:
        named["reference"] = str(reference) if isinstance(reference, str | Path) else "file"
    settings = from_keywords(AuditSettings, "audit", named, settings)
    table = None if isinstance(reference, str | Path) else reference
    files = settings.other_files if table is None else ()
    given = [path for path in (data, *files) if isinstance(path, str | Path)]

    def opened(read: ReadSettings) -> tuple[Data, Dataset | None]:
        dataset = open_data(data, y, read, keys=settings.keys)
        if dataset.kind == "images":
            refuse_table_options(settings, with_table=table is not None)
        read = with_labels_of(dataset, y, read)
        if table is not None:
            return dataset, reference_in_memory(table, read)
        return dataset, load_reference(files[0], read) if files else None

    with in_keywords(AuditSettings, "audit"):
        if isinstance(data, str | Path) and y is None and cv is None and groups is None and not files:
            found = None if table is not None or not may_be_parts(data) else _in_parts(data, settings, progress)
            if found is not None:
                return found
        dataset, other = opened_alike(opened, libsvm_choices(given, settings.read))
        splits = None
        if cv is not None:
            splits = _cut_by(cv, dataset, settings, x=None if isinstance(data, str | Path) else data, groups=groups)
        elif groups is not None:
            raise SettingsError("groups go with cv; name a column with group=... where picsc makes the folds")
        return audit_dataset(dataset, settings, reference=other, splits=splits, progress=progress)


def _in_parts(path: str | Path, settings: AuditSettings, progress: Callable[[str], None] | None) -> AuditReport | None:
    from picsc.auditing.many_rows.audit_parts import audit_in_parts

    return audit_in_parts(path, settings, progress or (lambda _: None))


def _cut_by(cv: object, data: Data, settings: AuditSettings, *, x: object, groups: ArrayLike | None) -> Cut:
    """The pieces of splits that are given.

    Raises:
        PicscError: the settings cut the table in another way, the data are no table, or the splits cannot be used.
    """
    if not settings.cut.uncut or settings.clients.clients is not None:
        raise SettingsError(
            "cv says where to cut, and so does another setting: leave out folds, batches, by, "
            "split_column, time and clients"
        )
    if data.kind != "table":
        raise DataError(f"cv cuts tables; {data.name} holds {data.kind}")
    return cut_by_splits(data, cv, x=x, groups=groups)


def audit_dataset(
    data: Data,
    settings: AuditSettings,
    *,
    reference: Dataset | None = None,
    splits: Cut | None = None,
    progress: Callable[[str], None] | None = None,
) -> AuditReport:
    """Audit a table or images that are already read: cut, design, test, attribute, report.

    Args:
        data: n rows; of images, all but an official test part.
        settings: all of the audit's knobs.
        reference: rows that every piece is compared with, instead of other pieces.
        splits: the pieces of a table, in place of those that the settings say.
        progress: called with a few words on each step.

    Raises:
        PicscError: the data cannot be cut or tested as asked.

    Example:
        >>> import numpy as np
        >>> from picsc import AuditSettings, audit_dataset
        >>> from picsc.datasets.open import open_data
        >>> settings = AuditSettings.model_validate({"cut": {"folds": 2}, "draws": 199})
        >>> rows = np.random.default_rng(1).normal(size=(100, 3))
        >>> audit_dataset(open_data(rows, rows[:, 0] > 0, settings.read), settings).verdict
        'ok'
    """
    progress = progress or (lambda _: None)
    progress("cutting")
    data = no_text(data)
    against = None
    if reference is not None and data.kind == "table":
        _refuse_itself(data, reference)
        alone = data, reference
        data, reference = read_together(data, reference, settings.read, settings.keys)
        against = match_columns(data, reference, (*settings.read.drop, *settings.keys), alone=alone)
        data, reference = without_order_between(against.data, against.reference, settings.read.keep)
    elif data.kind == "table":
        data = without_order_columns(data, settings.read.keep)
    check_column_settings(data, settings)
    pieces = cut_data(data, settings, progress, with_table=reference is not None, splits=splits)
    compared = compared_rows(pieces.dataset, pieces.cut, reference)
    if data.kind == "table":
        compared = at_common_precision(compared)
    if against is not None:
        again = rows_in_both(compared, against.reference)
        against = replace(against, findings=(*again, *against.findings))
    design = build_design(pieces.dataset, pieces.cut, settings, reference, compared=compared, findings=pieces.findings)
    if data.kind == "table":  # features of images differ in the last bits between processors, and with them the order
        compared, order = canonical(compared, design.labels, design.scheme.units)
        design = design.reordered(order)
    rows = ComparedRows(compared, pieces.inputs)
    tests = run_piece_tests(rows, design, settings, progress)
    tests = attribute(tests, rows, design, settings, progress)
    report = audit_report(pieces, design, tests, settings, against)
    if data.kind != "table":
        return report
    return replace(
        report,
        distributions=distributions(compared, design, tests, settings.level),
        column_effects=column_effects(compared, design, tests, settings.level),
    )


def _refuse_itself(data: Dataset, reference: Dataset) -> None:
    """Refuse a table as its own reference: it can never differ from itself, so the audit would always pass.

    Raises:
        DataError: the two are the same bytes.
    """
    if data.sha256 and data.sha256 == reference.sha256:
        raise DataError(
            f"{data.name}: the data and the reference are the same bytes, and a table never differs "
            "from itself; name another file with --reference"
        )
