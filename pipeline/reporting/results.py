"""The results of the datasets in params.yaml, and a record of those that are missing.

A result that is not there is missing, and the report says so. One that is there and lacks what the
report reads of it is damaged: an error that names the file.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

from pipeline import settings
from pipeline.errors import UserError
from pipeline.files import Files, read_json, sha256
from pipeline.reporting import illustrated, shapes
from pipeline.reporting.labels import dataset_label
from pipeline.reporting.paper import Paper, load_paper

Result = dict[str, Any]
SHAPES: dict[str, type[shapes.Shape]] = {
    "data": shapes.Info,
    "linear": shapes.Linear,
    "tune": shapes.Tune,
    "train": shapes.Train,
    "repeats": shapes.Repeats,
    "sizes": shapes.Sizes,
    "dimension": shapes.Dimensions,
    "adapt": shapes.Adapt,
    "clean": shapes.Clean,
    "illustrate": illustrated.Illustrate,
}


class Results:
    """Everything that a page reads. What it asks for and does not find is remembered."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self.settings = settings.load(files)
        self.missing: set[str] = set()
        self._read: dict[Path, Result] = {}  # a page asks for the same file several times

    @classmethod
    def open(cls, root: str | Path = ".") -> Results:
        return cls(Files(Path(root)))

    @cached_property
    def paper(self) -> Paper:
        return load_paper(self.files)

    @property
    def datasets(self) -> tuple[str, ...]:
        """Results of other datasets may lie around; a report is of those in params.yaml."""
        return self.settings.params.datasets

    def get(self, study: str, dataset: str, name: str) -> Result | None:
        path = self.files.result(study, dataset, name)
        if not path.exists():
            self.missing.add(path.relative_to(self.files.root).as_posix())
            return None
        if path not in self._read:
            content = read_json(path)
            shape: type[shapes.Shape] = SHAPES.get(study, shapes.Head)
            if study == "illustrate":
                shape = illustrated.DATASETS.get(dataset, shape)
            if problem := shapes.problem(content, shape):
                raise UserError(
                    f"{path}: damaged ({problem}); restore it with `git checkout {path}` or run "
                    f"its stage again with `dvc repro --force`"
                )
            self._read[path] = content
        return self._read[path]

    def hashes(self) -> dict[str, str]:
        """Of every result that a page may read: the pages depend on this list.

        Fourteen pages with a dozen folders each would be most of what `dvc repro` looks at.
        """
        root = self.files.root
        return {
            path.relative_to(root).as_posix(): sha256(path)
            for path in sorted((root / "results").glob("*/*/*.json"))
            if path.parts[-3] in SHAPES and not path.name.endswith(".run.json")
        }

    def info(self, dataset: str) -> Result | None:
        """What `prepare` says of a dataset: edition, hashes, features, tasks."""
        return self.get("data", dataset, "table")

    def label(self, dataset: str) -> str:
        """The dataset's name, with a mark where the edition is not the paper's."""
        return dataset_label(dataset) + ("†" if self.difference(dataset) else "")

    def difference(self, dataset: str) -> str:
        """How the edition differs from the paper's, in a sentence; empty if it does not."""
        info = self.info(dataset) if dataset in self.datasets else None
        if info is None or (info["edition"] == "paper" and not info["differs"]):
            return ""
        standing = "comparable with" if info["comparable"] else "not comparable with"
        return (
            f"{dataset_label(dataset)}, edition {info['edition']}: "
            f"{info['differs'] or 'not the paper’s file.'} Taken as {standing} the paper's numbers."
        )

    def footnotes(self) -> tuple[str, ...]:
        return tuple(f"† {text}" for text in map(self.difference, self.datasets) if text)

    def comparable(self, dataset: str) -> bool | None:
        info = self.info(dataset)
        return None if info is None else bool(info["comparable"])
