"""download <dataset>: the raw files of the dataset's edition, checked."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from learned_context.errors import UserError
from pipeline import settings
from pipeline.datasets import registry, sources
from pipeline.datasets.fetch import fetch
from pipeline.files import Files, write_text

MIRROR = "LEARNED_CONTEXT_MIRROR"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dataset", help="a dataset of params.yaml")


def run(arguments: argparse.Namespace) -> None:
    files, dataset = Files(), arguments.dataset
    keys = settings.load(files).dataset(dataset)
    edition = sources.load(files.sources).edition(dataset, keys.edition)
    folder = files.raw(dataset, keys.edition)
    if not edition.files:
        # An output all the same, so that every dataset has the same stages.
        write_text(folder / "GENERATED.txt", "The prepare stage generates this dataset.\n")
        print(f"{folder}: nothing to download, the dataset is generated")
    for source in edition.files:
        # Not in `folder`: DVC empties a stage's outputs before it runs the stage.
        by_hand = files.raw("by_hand", dataset) / source.name
        destination = folder / source.name
        try:
            origin = fetch(source, destination, by_hand, edition.by_hand, os.environ.get(MIRROR))
        except UserError:
            _remove_empty(folder)
            raise
        print(f"{destination}: {origin}")
    if not all(source.pinned for source in edition.files):
        # Nothing but its content tells whether such a file is right: a wrong one must not stay.
        paths = [folder / source.name for source in edition.files]
        try:
            registry.parse(dataset, keys.edition, edition, paths)
        except UserError:
            for path in paths:
                path.unlink()
            raise


def _remove_empty(folder: Path) -> None:
    """Leave no trace of a download that failed: DVC would take an empty folder for an output."""
    for path in (folder, folder.parent):
        if path.is_dir() and not any(path.iterdir()):
            path.rmdir()
