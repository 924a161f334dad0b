"""Corrupted sets of images from the files of their authors. Letters: n images."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from picsc.datasets.catalog.directory import find_folders
from picsc.datasets.catalog.made_names import Made
from picsc.datasets.catalog.made_plan import dealt, made_digest, owned, planned, wanted_corruptions
from picsc.datasets.image_files.assemble import Part, joined
from picsc.datasets.image_files.corrupted import (
    Chosen,
    corruption_file,
    corruption_folder,
    read_corrupted,
    read_corrupted_part,
    read_labels,
)
from picsc.datasets.images import ImageSet
from picsc.errors import DataError


def authors_folder(made: Made, root: Path) -> Path | None:
    """The folder of the authors' files of a corrupted set; None where they are not there, or lack what is wanted.

    MNIST-C has one severity, which its authors do not number, so a set of one severity is always made.

    Args:
        made: the set.
        root: the data directory.
    """
    if made.entry.grey and made.severity is not None:
        return None
    find = corruption_folder if made.entry.grey else corruption_file
    wanted = wanted_corruptions(made)
    return next(
        (folder for folder in find_folders(root, made.entry.folders) if any(find(folder, name) for name in wanted)),
        None,
    )


def read_authors(made: Made, folder: Path) -> ImageSet:
    """Read the authors' files.

    Args:
        made: the set.
        folder: folder with NAME.npy and labels.npy, or for MNIST-C with NAME/train_images.npy and so on.

    Raises:
        DataError: a file is missing or damaged, or files do not belong together.
    """
    find = corruption_folder if made.entry.grey else corruption_file
    paths = {name: find(folder, name) for name in wanted_corruptions(made)}
    there = {name: path for name, path in paths.items() if path is not None}
    missing = [name for name in paths if name not in there]
    if missing:
        example = f"{made.known}-{next(iter(there))}".replace("_", "-")
        raise DataError(
            f"{folder}: {', '.join(missing)} is missing; put all of them there, or choose one corruption, such as "
            f"{example}"
        )
    return _mnist_c(made, folder, there) if made.entry.grey else _cifar_c(made, folder, there)


def _cifar_c(made: Made, folder: Path, paths: dict[str, Path]) -> ImageSet:
    digests: list[str] = []
    labels = read_labels(folder, digests)
    plan = planned(made, len(labels))
    rows = [np.flatnonzero(plan.corruptions == name) for name in paths]
    read = [
        read_corrupted(path, len(labels), Chosen(own, plan.severities[own]), digests)
        for path, own in zip(paths.values(), rows, strict=True)
    ]
    for path, pixels in zip(paths.values(), read, strict=True):
        if pixels.shape[1:] != read[0].shape[1:]:
            raise DataError(f"{path}: its images have another size than those of {next(iter(paths))}; get it again")
    order = np.argsort(np.concatenate(rows))
    found = joined(
        Part(np.concatenate(read)[order], labels, str(folder)),
        None,
        name=made.name,
        source=str(folder),
        sha256=made_digest(made, digests),
    )
    return owned(found, plan.owners)


def _mnist_c(made: Made, folder: Path, paths: dict[str, Path]) -> ImageSet:
    digests: list[str] = []
    parts, owners = [], []
    for which in ("train", "test"):
        first: Part | None = None
        for k, path in enumerate(paths.values()):
            piece = read_corrupted_part(path, which, digests)
            first = replace(piece, pixels=piece.pixels.copy()) if first is None else first
            if piece.pixels.shape != first.pixels.shape or np.any(piece.labels != first.labels):
                raise DataError(
                    f"{piece.where}: its images or labels are not those of {first.where}, which should be the same "
                    "images under another corruption; get the files again"
                )
            hands = dealt(len(first.labels), len(paths))
            first.pixels[hands == k] = piece.pixels[hands == k]
        if first is not None:
            parts.append(first)
            owners.append(hands)
    found = joined(*parts, name=made.name, source=str(folder), sha256=made_digest(made, digests))
    return owned(found, (np.concatenate(owners), list(paths)))
