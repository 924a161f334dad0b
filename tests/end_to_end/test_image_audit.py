"""The audit of images, on scikit-learn's digits enlarged to the 16 x 16 pixels that LeNet needs."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits

import picsc
from picsc.auditing.image_view import ImageFeatures, image_features, image_rows, on_units
from picsc.datasets.images import ImageSet, from_images
from picsc.errors import DataError, SettingsError

FAST = 199
N = 180


def digits(n: int = N, seed: int = 0) -> ImageSet:
    """Shuffled, so that they are in no order of writers."""
    bunch = load_digits()
    rows = np.random.default_rng(seed).permutation(len(bunch.target))[:n]
    large = bunch.images[rows].repeat(2, axis=1).repeat(2, axis=2)
    return from_images(large / 16, bunch.target[rows], name="digits")


@pytest.fixture(scope="module")
def images() -> ImageSet:
    return digits()


@pytest.fixture(scope="module")
def report(images: ImageSet) -> picsc.AuditReport:
    return picsc.audit(images, folds=3, draws=FAST)


def test_shuffled_images_are_ok_and_the_report_says_what_they_are(report: picsc.AuditReport) -> None:
    assert report.verdict == "ok"
    assert report.pieces == "3 stratified folds, unshuffled"
    messages = {finding.code: finding.message for finding in report.findings}
    assert messages["images"].startswith(f"{N} images of 1 x 16 x 16 pixels")
    assert "850 parameters of its last layer" in messages["images"]
    assert (report.data.rows, report.data.task, report.data.classes) == (N, "classification", 10)
    assert all(fragment.fisher_kl is not None and fragment.kl is not None for fragment in report.fragments)


def test_every_unit_is_a_column_or_left_out_with_a_reason(report: picsc.AuditReport) -> None:
    columns = report.data.columns
    assert {column.name for column in columns} == {f"feature {j}" for j in range(1, 85)}
    assert {column.note for column in columns if not column.used} == {"0 for every image"}
    assert "constant-left-out" in {finding.code for finding in report.findings}


@pytest.fixture(scope="module")
def copied() -> ImageSet:
    """Ten of the first piece's images stand in the second, too."""
    images = digits(60)
    pixels, labels = images.pixels[:, 0].copy(), images.labels.copy()
    pixels[50:], labels[50:] = pixels[:10], labels[:10]
    return from_images(pixels, labels, name="digits")


@pytest.fixture(scope="module")
def copied_report(copied: ImageSet) -> picsc.AuditReport:
    return picsc.audit(copied, batches=2, draws=99)


def test_copies_of_images_in_other_pieces_are_found(copied_report: picsc.AuditReport) -> None:
    found = {finding.code: finding.message for finding in copied_report.findings}
    assert found["duplicate-rows"].startswith("20 of 60 rows")


def test_same_seed_same_bytes_and_arrays_are_images_too(copied: ImageSet, copied_report: picsc.AuditReport) -> None:
    again = picsc.audit(copied.pixels[:, 0], copied.labels, batches=2, draws=99, jobs=2).as_dict()
    assert json.dumps(again["fragments"]) == json.dumps(copied_report.as_dict()["fragments"])
    json.dumps(again, allow_nan=False)


def test_arrays_of_images_need_labels(images: ImageSet) -> None:
    with pytest.raises(SettingsError, match=r"images of shape \(180, 16, 16\) need their classes"):
        picsc.audit(images.pixels[:, 0])


def test_an_inverted_batch_is_found(images: ImageSet) -> None:
    pixels = images.pixels.copy()
    pixels[120:] = 255 - pixels[120:]
    report = picsc.audit(replace(images, pixels=pixels), batches=3, draws=FAST)
    assert [fragment.name for fragment in report.shifted] == ["batch 3"]
    assert report.shifted[0].cell in ("data only", "both")
    assert report.shifted[0].columns[0].name.startswith("feature ")


def test_flipped_labels_of_a_fold_are_model_only() -> None:
    """On three kinds of processor, whose networks differ, the p of the data is 0.5 and that of the model the least."""
    images, rng = digits(600, seed=1), np.random.default_rng(2)
    labels = images.labels.copy()
    flipped = rng.permutation(200)[:80]  # 40 % of the first fold
    labels[flipped] = (labels[flipped] + 1 + rng.integers(9, size=len(flipped))) % 10
    report = picsc.audit(replace(images, labels=labels), folds=3, splitter="kfold", draws=FAST)
    assert [fragment.name for fragment in report.shifted] == ["fold 1"]
    assert report.shifted[0].cell == "model only"
    assert report.shifted[0].p_model == pytest.approx(1 / (FAST + 1))


@pytest.fixture(scope="module")
def features() -> ImageFeatures:
    return image_features(digits(100), seed=0)


def test_scores_are_those_of_the_last_layer(features: ImageFeatures) -> None:
    """Softmax regression on the features in closed form: (1[y = j] - p_j) times feature, then the bias."""
    x = np.stack([column.values for column in features.dataset.columns], axis=1)
    y = digits(100).labels
    weight, bias = (parameter.detach().double() for parameter in features.head.parameters())
    residual = torch.eye(10, dtype=torch.float64)[y] - (torch.from_numpy(x) @ weight.T + bias).softmax(1)
    expected = torch.cat([(residual[:, :, None] * torch.from_numpy(x)[:, None]).flatten(1), residual], 1)
    table = features.table(features.dataset)
    assert table.parameters == 10 * x.shape[1] + 10
    scores = table.contributions(np.arange(100))[:, : table.parameters]
    np.testing.assert_allclose(scores, expected, rtol=1e-10, atol=1e-13)


def test_a_last_layer_on_fewer_units_gives_the_same_logits() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(7, 5))
    x[:, [1, 3]] = 0.0, 0.5
    last = torch.nn.Linear(5, 3).double()
    alive = np.array([True, False, True, False, True])
    fewer = on_units(last, alive, x[0])(torch.from_numpy(x[:, alive]))
    expected = last(torch.from_numpy(x))
    np.testing.assert_allclose(fewer.detach(), expected.detach(), rtol=1e-12, atol=1e-12)


def test_features_do_not_depend_on_how_many_images_pass_at_once(features: ImageFeatures) -> None:
    others = image_features(digits(100), seed=0, chunk=7)
    for column, other in zip(features.dataset.columns, others.dataset.columns, strict=True):
        np.testing.assert_allclose(column.values, other.values, rtol=1e-6)


def test_the_official_test_part_is_in_no_piece(images: ImageSet) -> None:
    split = replace(images, test=np.arange(0, N, 10))
    rows = image_rows(split)
    assert rows.n == N - N // 10
    assert rows.target is not None
    np.testing.assert_array_equal(rows.target.values, np.delete(images.labels, split.test))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "site"}, "by='site': images have no columns to cut by; use folds= or batches="),
        ({"time": "day"}, "time='day': images have no columns"),
        ({"folds": 3, "group": "writer"}, "group='writer': images have no columns"),
        ({"target": "digit"}, "target=: images have no columns, and classes are their target"),
        ({"drop": ["x1"]}, "drop=: images have no columns"),
        ({"reference": "other.csv"}, r"reference='other\.csv': images are compared with one another only"),
    ],
)
def test_what_only_a_table_can_answer_is_refused_before_training(
    images: ImageSet, options: dict[str, object], message: str
) -> None:
    with pytest.raises(SettingsError, match=message):
        picsc.audit(images, **options)


@pytest.mark.parametrize(
    ("pixels", "labels", "message"),
    [
        (np.zeros((5, 16, 16, 3), np.uint8), np.zeros(5), "channels before pixels"),
        (np.zeros((5, 16, 16), np.uint8), np.zeros(4), "5 images and labels of shape"),
        (np.full((5, 16, 16), -0.5), np.zeros(5), r"from -0.5 to 0; scale them to 0..255"),
        (np.full((5, 16, 16), np.nan), np.zeros(5), "scale them"),
        (np.zeros((5, 16, 16)), np.array([0, 1, None, None, 1], dtype=object), "image 3 has no label"),
        (np.zeros((5, 16, 16)), np.zeros(5), "one class only: '0.0'"),
        (np.zeros((40, 16, 16)), np.arange(40) % 2, "every pixel of every image is 0"),
        (np.arange(40 * 64).reshape(40, 8, 8) % 9, np.arange(40) % 2, "8 x 8 pixels are too small"),
        (np.zeros((3, 16, 16)), np.arange(3) % 2, "cannot cut 3 rows into 10 folds"),
    ],
)
def test_unusable_images_are_refused(pixels: np.ndarray, labels: np.ndarray, message: str) -> None:
    with pytest.raises(DataError, match=message):
        picsc.audit(pixels, labels)


def test_pixels_are_bytes_whatever_they_came_as() -> None:
    small = np.arange(2 * 16 * 16, dtype=np.uint8).reshape(2, 16, 16) % 5
    labels = np.array(["b", "a"])
    as_bytes, as_floats = from_images(small, labels), from_images(small.astype(np.float64), labels)
    fractions = from_images(small / 4, labels)
    np.testing.assert_array_equal(as_bytes.pixels, small[:, None])
    np.testing.assert_array_equal(as_floats.pixels, as_bytes.pixels)
    assert as_floats.sha256 == as_bytes.sha256 != fractions.sha256
    assert (fractions.pixels.min(), fractions.pixels.max()) == (0, 255)
    assert (as_bytes.classes, as_bytes.labels.tolist()) == (("b", "a"), [0, 1])
