"""A dataset's entries in params.yaml and raw/sources.yaml, as changes of the files' texts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import yaml

from learned_context.errors import UserError
from pipeline.own import yaml_text
from pipeline.own.yaml_text import scalar
from pipeline.settings import DatasetKeys

EDITION = "own"
PARAMS, SOURCES = "params.yaml", "raw/sources.yaml"
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
class Texts:
    params: str
    sources: str


@dataclass(frozen=True)
class OwnFile:
    """What raw/sources.yaml says of the file."""

    file: str
    sha256: str
    size: int
    rows: int
    tasks: int


def added(texts: Texts, name: str, keys: DatasetKeys, file: OwnFile) -> Texts:
    """The texts with the entries of a dataset that they do not have."""
    assert keys.task is not None and keys.target is not None and keys.features is not None
    features = ", ".join(map(scalar, keys.features))
    entry = (
        f"{name}: {{edition: {keys.edition}, task: {scalar(keys.task)}, "
        f"target: {scalar(keys.target)}, features: [{features}], train_share: {keys.train_share}}}"
    )
    source = SOURCE.format(name=name, edition=keys.edition, **asdict(file))
    params = _change(PARAMS, yaml_text.added, texts.params, "datasets", f"- {name}")
    new = Texts(
        _change(PARAMS, yaml_text.added, params, "dataset", entry),
        _change(SOURCES, yaml_text.added, texts.sources, "dataset", source),
    )
    _check(new, texts, name)
    return new


def removed(texts: Texts, name: str) -> Texts:
    """The texts without any entry of that name; as they are if they have none."""
    params = _change(PARAMS, yaml_text.removed, texts.params, "datasets", name)
    new = Texts(
        _change(PARAMS, yaml_text.removed, params, "dataset", name),
        _change(SOURCES, yaml_text.removed, texts.sources, "dataset", name),
    )
    _check(new, texts, name)
    return new


def _change(
    file: str, change: Callable[[str, str, str], str], text: str, key: str, entry: str
) -> str:
    try:
        return change(text, key, entry)
    except ValueError as error:
        raise UserError(f"{file}: {error}") from error


def _check(new: Texts, old: Texts, name: str) -> None:
    """Whatever a person made of the files' layout: no other entry may change."""
    for file, one, other in (
        (PARAMS, new.params, old.params),
        (SOURCES, new.sources, old.sources),
    ):
        try:
            same = _others(one, name) == _others(other, name)
        except yaml.YAMLError:
            same = False
        if not same:
            raise UserError(
                f"{file}: its layout does not allow to change {name!r} alone; write one entry a "
                "line there, and try again"
            )


def _others(text: str, name: str) -> Any:
    content = yaml.safe_load(text)
    content["dataset"].pop(name, None)
    if "datasets" in content:
        content["datasets"] = [other for other in content["datasets"] if other != name]
    return content
