"""Data of any kind: tables, images and texts answer the same questions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from picsc.datasets.data import Data
from picsc.datasets.images import from_images
from picsc.datasets.load import from_frame
from picsc.settings import ReadSettings
from tests.texts import bags

FRAME = pd.DataFrame({"age": [1.5, 2.5, 4.0, 8.0], "size": [0.5, 2.5, 1.0, 0.0], "same": 1, "y": ["b", None, "a", "b"]})
TABLE = from_frame(FRAME, ReadSettings(target="y"))
IMAGES = from_images(np.arange(4 * 9).reshape(4, 3, 3), np.array(["b", "a", "a", "b"]))
TEXTS = bags(4, width=6)
ALL = pytest.mark.parametrize("data", [TABLE, IMAGES, TEXTS], ids=lambda data: data.kind)


@ALL
def test_labels_are_codes_into_the_classes_and_the_table_has_the_same(data: Data) -> None:
    table = data.as_table()
    assert data.labels is not None
    assert data.labels.shape == (data.n,)
    assert data.labels.max() < len(data.classes)
    assert table.kind == "table"
    assert (table.n, table.classes, table.sha256) == (data.n, data.classes, data.sha256)
    np.testing.assert_array_equal(table.labels, data.labels)


@ALL
def test_other_labels_leave_the_rest_and_the_original_alone(data: Data) -> None:
    before = np.array(data.labels)
    after = data.with_labels(np.ones(data.n, np.int64))
    np.testing.assert_array_equal(after.labels, np.ones(data.n))
    np.testing.assert_array_equal(data.labels, before)
    assert (after.kind, after.shape, after.classes) == (data.kind, data.shape, data.classes)


def test_each_kind_has_its_own_shape_and_width() -> None:
    assert {data.kind: (data.shape, data.width) for data in (TABLE, IMAGES, TEXTS)} == {
        "table": ((4, 4), 2),
        "images": ((4, 1, 3, 3), 9),
        "texts": ((4, TEXTS.width), TEXTS.width),
    }


def test_a_table_without_classes_has_no_labels() -> None:
    numbers = from_frame(FRAME, ReadSettings(target="age", task="regression"))
    nothing = from_frame(FRAME, ReadSettings(no_target=True))
    for table in (numbers, nothing):
        assert table.labels is None
        assert table.classes == ()


def test_only_texts_here_have_owners_and_none_has_an_official_test_part() -> None:
    assert [data.owners is None for data in (TABLE, IMAGES, TEXTS)] == [True, True, False]
    assert [len(data.clients) for data in (TABLE, IMAGES, TEXTS)] == [0, 0, 3]
    assert [len(data.test) for data in (TABLE, IMAGES, TEXTS)] == [0, 0, 0]
