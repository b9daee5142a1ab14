"""A dataset's entries in params.yaml and raw/sources.yaml, as changes of the files' texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from learned_context.errors import UserError
from pipeline.files import Files, parse_yaml
from pipeline.own import yaml_text
from pipeline.own.yaml_text import scalar
from pipeline.settings import DatasetKeys

EDITION = "own"
PARAMS, SOURCES = "params.yaml", "raw/sources.yaml"
PLACES = ((PARAMS, "datasets"), (PARAMS, "dataset"), (SOURCES, "dataset"))
"""Where a dataset has an entry: the files and their keys."""
Texts = dict[str, str]
"""The texts of the two files, by their names."""
SOURCE = """
{name}:
  {edition}:
    comparable: false
    differs: "Not one of the paper's datasets."
    rows: {rows}
    tasks: {tasks}
    licence: its owner's
    citation: none
    by_hand: whoever added this dataset
    files:
      - name: {file}
        addresses: []
        mirror: {name}/{file}
        sha256: {sha256}
        size: {size}"""


@dataclass(frozen=True)
class OwnFile:
    """What raw/sources.yaml says of the file."""

    file: str
    sha256: str
    size: int
    rows: int
    tasks: int


def read(files: Files) -> Texts:
    """As they are, with their line ends."""
    return {file: (files.root / file).read_bytes().decode() for file in (PARAMS, SOURCES)}


def added(texts: Texts, name: str, keys: DatasetKeys, file: OwnFile) -> Texts:
    """The texts with the entries of a dataset that they do not have."""
    assert keys.task is not None and keys.target is not None and keys.features is not None
    features = ", ".join(map(scalar, keys.features))
    entry = (
        f"{name}: {{edition: {keys.edition}, task: {scalar(keys.task)}, "
        f"target: {scalar(keys.target)}, features: [{features}], train_share: {keys.train_share}}}"
    )
    source = SOURCE.format(name=name, edition=keys.edition, **asdict(file))
    return _changed(texts, name, yaml_text.added, (f"- {name}", entry, source))


def removed(texts: Texts, name: str) -> Texts:
    """The texts without any entry of that name; as they are if they have none."""
    return _changed(texts, name, yaml_text.removed, (name, name, name))


def _changed(
    texts: Texts, name: str, change: Callable[[str, str, str], str], entries: Sequence[str]
) -> Texts:
    """One entry more or less at each place; whatever the files' layout, no other may change."""
    new = dict(texts)
    for (file, key), entry in zip(PLACES, entries, strict=True):
        try:
            new[file] = change(new[file], key, entry)
        except ValueError as error:
            raise UserError(f"{file}: {error}") from error
    for file in new:
        try:
            same = _others(file, new[file], name) == _others(file, texts[file], name)
        except UserError:
            same = False
        if not same:
            raise UserError(
                f"{file}: its layout does not allow to change {name!r} alone; write one entry a "
                "line there, and try again"
            )
    return new


def _others(file: str, text: str, name: str) -> Any:
    content = parse_yaml(file, text)
    content["dataset"].pop(name, None)
    if "datasets" in content:
        content["datasets"] = [other for other in content["datasets"] if other != name]
    return content
