"""remove-dataset: what add-dataset did, undone; the dataset's results go as well."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from pipeline import settings
from pipeline.datasets import registry, sources
from pipeline.errors import UserError
from pipeline.execution import lockfile
from pipeline.execution.repository import locked, open_repository
from pipeline.files import Files, write_bytes
from pipeline.own import entries
from pipeline.own.entries import EDITION, Texts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", help="a dataset that add-dataset has added")


def run(arguments: argparse.Namespace) -> None:
    files, name = Files(), arguments.name
    _check(files, name)
    with open_repository(Path.cwd()) as repo, locked(repo, print):
        before = Texts(files.params.read_bytes().decode(), files.sources.read_bytes().decode())
        texts = entries.removed(before, name)
        for path in files.of_dataset(name):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
            print(f"removed {path}")
        for lock in files.locks:
            lockfile.drop(lock, lambda stage: _is_of(stage, name))
        # Last: as long as the entries are there, this can be started again.
        write_bytes(files.params, texts.params.encode())
        write_bytes(files.sources, texts.sources.encode())
    print(f"{name}: removed; `python -m pipeline run check report` brings the report up to date")


def _check(files: Files, name: str) -> None:
    if name in registry.GENERATED + registry.PARSED:
        raise UserError(
            f"{name}: one of the paper's datasets; take it out of `datasets` in params.yaml and "
            "none of its stages runs"
        )
    datasets = settings.load(files).params.dataset
    own = [other for other, keys in datasets.items() if keys.is_own]
    left = sources.load(files.sources).dataset  # an addition may have been killed half way
    if name not in own and EDITION not in left.get(name, {}):
        raise UserError(f"{name}: no dataset of your own; there are: {', '.join(own) or 'none'}")


def _is_of(stage: str, dataset: str) -> bool:
    """Of `kind@dataset` or `kind@dataset-model`; a report's stage is named by its page."""
    kind, _, item = stage.partition("@")
    return kind != "report" and item.split("-")[0] == dataset
