"""remove-dataset: what add-dataset did, undone; the dataset's results go as well."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from learned_context.errors import UserError, printable
from pipeline import settings
from pipeline.datasets import registry, sources
from pipeline.execution.dvc_adapter import lockfile
from pipeline.execution.dvc_adapter.repository import locked, open_repository
from pipeline.files import Files, write_text
from pipeline.own import entries, removal
from pipeline.own.entries import EDITION


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", help="a dataset that add-dataset has added")


def run(arguments: argparse.Namespace) -> None:
    files, name = Files(), arguments.name
    _check(files, name)
    edition = sources.load(files.sources).dataset.get(name, {}).get(EDITION)
    with open_repository(Path.cwd()) as repo, locked(repo, print):
        texts = entries.removed(entries.read(files), name)
        paths = removal.made(files, name, EDITION, edition.files if edition else ())
        removal.remove(files, paths)
        for lock in files.locks:
            lockfile.drop(lock, lambda stage: _is_of(stage, name))
        # Last: as long as the entries are there, this can be started again.
        for file, text in texts.items():
            write_text(files.root / file, text)
    for folder, count in Counter(_folder(path, name) for path in paths).items():
        print(f"removed {count} {'file' if count == 1 else 'files'} in {folder}")
    for path in removal.left(files, name):
        print(f"kept {printable(str(path))}: no command made it")
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


def _folder(path: Path, name: str) -> Path:
    """The dataset's own folder that holds the path, or else the path's."""
    return next((folder for folder in path.parents if folder.name == name), path.parent)


def _is_of(stage: str, dataset: str) -> bool:
    """Of `kind@dataset` or `kind@dataset-model`; a report's stage is named by its page."""
    kind, _, item = stage.partition("@")
    return kind != "report" and item.split("-")[0] == dataset
