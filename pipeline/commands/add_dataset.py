"""add-dataset: a csv or parquet file of your own becomes a dataset like the paper's.

The file is copied to where the download stage finds files that a person has put there; params.yaml
and raw/sources.yaml get an entry each. Every stage then runs for it as for any other dataset.
"""

from __future__ import annotations

import argparse
import re
import shutil
from pathlib import Path

import pandas as pd

from learned_context.errors import UserError, printable
from learned_context.files import replacing
from pipeline import settings
from pipeline.datasets import own, own_file, registry, sources, splits
from pipeline.datasets.table import TaskTable
from pipeline.files import Files, restoring, sha256, write_text
from pipeline.own import entries, findings, removal
from pipeline.own.entries import EDITION, OwnFile
from pipeline.own.yaml_text import means_itself
from pipeline.settings import DatasetKeys, Settings
from pipeline.tables import selection

NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
TAKEN = ("by_hand",)
"""Folders of raw/ that are no dataset's."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="a .csv with one header line, or a .parquet")
    parser.add_argument("--task", required=True, help="the column that says of which task a row is")
    parser.add_argument("--target", required=True, help="the column to predict")
    parser.add_argument("--features", help="columns, with commas between; if not given all others")
    parser.add_argument("--name", help="the dataset's name; if not given from the file's name")
    parser.add_argument(
        "--train-share", type=float, default=0.8, help="of a task's rows, to train (%(default)s)"
    )
    parser.add_argument(
        "--replace", action="store_true", help="take the place of your dataset of that name"
    )


def run(arguments: argparse.Namespace) -> None:
    files = Files()
    loaded, known = settings.load(files), sources.load(files.sources)
    path: Path = arguments.file
    name = _name(path, arguments.name)
    entry = loaded.params.dataset.get(name)
    if entry is not None and not entry.is_own:
        raise UserError(f"--name: {name!r} is taken; choose another")
    if not arguments.replace and (entry is not None or name in known.dataset):
        raise UserError(
            f"--name: there is a dataset {name!r} already; `python -m pipeline remove-dataset "
            f"{name}` removes it, --replace puts this file in its place, --name gives another name"
        )
    raw = own_file.read(path)
    keys = _keys(arguments, list(raw.columns))
    typed = own.typed(path, raw, keys)
    table = own.to_table(path, typed, keys)
    try:
        split = _split(path, name, table, keys, loaded)
    except UserError as error:
        sentence = own.left_out(typed, keys)
        raise UserError(f"{error}; {sentence}" if sentence else str(error)) from error
    print(printable(f"{path}: {len(typed)} rows"))
    for finding in findings.describe(raw, typed, table, split, keys):
        print(printable(f"  {finding}"))
    _register(files, path, name, keys, table)
    print(f"{name}: added; `python -m pipeline plan '*@{name}*'` says what runs for it")


def _name(path: Path, given: str | None) -> str:
    name = re.sub(r"\W+", "_", path.stem.lower()) if given is None else given
    if not NAME.fullmatch(name) or not means_itself(name):
        raise UserError(
            f"--name: {name!r} is not valid; up to 40 of a-z, 0-9 and _ are, the first a letter, "
            "and no word that YAML takes for a value"
        )
    if name in registry.GENERATED + registry.PARSED + TAKEN:
        raise UserError(f"--name: {name!r} is taken; choose another")
    return name


def _keys(arguments: argparse.Namespace, columns: list[str]) -> DatasetKeys:
    if not 0 < arguments.train_share < 1:
        raise UserError(f"--train-share: {arguments.train_share} is not between 0 and 1")
    task, target = arguments.task, arguments.target
    if arguments.features is None:
        features = [name for name in columns if name not in (task, target) and not _index(name)]
        for name in filter(_index, columns):
            print(printable(f"{arguments.file}: {name} is pandas' row number, and left out"))
    else:
        features = [name.strip() for name in arguments.features.split(",")]
    if not features:
        raise UserError(f"{arguments.file}: no column but {task} and {target}: nothing to learn of")
    return DatasetKeys(
        edition=EDITION,
        task=task,
        target=target,
        features=tuple(features),
        train_share=arguments.train_share,
    )


def _index(column: str) -> bool:
    return column.startswith("__index_level_") or re.fullmatch(r"Unnamed: \d+", column) is not None


def _split(
    path: Path, name: str, table: TaskTable, keys: DatasetKeys, loaded: Settings
) -> pd.DataFrame:
    """As `prepare` will split it, and large enough for every study."""
    params = loaded.params
    features = [feature.name for feature in table.features]
    frame = splits.split(table.frame, features, own.split_rule(keys), params.seeds.split, name)
    own.check_split(path, table, frame)
    for fraction in (1.0, *params.fractions):
        if not selection.validation_mask(frame, fraction, params.validation).any():
            raise UserError(
                f"{path}: too few rows: of {fraction:.0%} of the training rows none is left to "
                "score a search; more rows or more tasks are needed"
            )
    return frame


def _register(files: Files, path: Path, name: str, keys: DatasetKeys, table: TaskTable) -> None:
    file = f"{name}{path.suffix.lower()}"
    copy = files.raw("by_hand", name) / file
    edition = sources.load(files.sources).dataset.get(name, {}).get(EDITION)
    replaced = list(removal.copies(files, name, edition.files if edition else ()))
    if path.resolve().is_relative_to(copy.parent.resolve()):
        raise UserError(f"{path}: is in the pipeline's own folder; give a file from elsewhere")
    same = copy.is_file() and sha256(copy) == sha256(path)  # such as after `git checkout .`
    if copy.exists() and copy not in replaced and not same:
        raise UserError(f"{copy}: is there already, and add-dataset did not make it; move it away")
    with restoring(files.params, files.sources, copy):
        with replacing(copy) as temporary:
            shutil.copyfile(path, temporary)
        about = OwnFile(
            file, sha256(copy), copy.stat().st_size, len(table.frame), table.frame["task"].nunique()
        )
        before = entries.removed(entries.read(files), name)
        texts = entries.added(before, name, keys, about)
        for file in reversed(texts):  # params.yaml last: every dataset there has a source
            write_text(files.root / file, texts[file])
        # What was written is what will be read.
        assert settings.load(files).dataset(name) == keys
        sources.load(files.sources).edition(name, EDITION)
    for other in replaced:
        if other != copy:
            other.unlink()
