"""The results of the datasets in params.yaml, and a record of those that are missing.

A result that is not there is missing, and the report says so. One that is there and damaged is an
error that names the file and the field.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from learned_context.networks.registry import ARCHITECTURES
from pipeline import checked, settings
from pipeline.checked import Checked
from pipeline.files import Files, read_json, sha256
from pipeline.reporting.labels import LINEAR, dataset_label
from pipeline.reporting.paper import Paper, load_paper
from pipeline.studies import STUDIES
from pipeline.studies.framework.results import DoesNotApply, StudyResult
from pipeline.studies.plumbing.study import Study
from pipeline.tables.description import TableDescription, read_description

R = TypeVar("R", bound=StudyResult)
C = TypeVar("C", bound=Checked)
MEASURED = (
    "arena",
    "bike_columns",
    "draws",
    "inflation_splits",
    "linear_draws",
    "paper_budget",
    "times",
)
"""What pages show of results/benchmarks."""


def benchmark_path(files: Files, name: str) -> Path:
    return files.root / "results" / "benchmarks" / f"{name}.json"


def _restore(path: Path) -> str:
    return f"restore it with `git checkout {path}`"


class Results:
    """Everything that a page reads. What it needs and does not find is remembered."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self.settings = settings.load(files)
        self.missing: set[str] = set()
        self._read: dict[Path, Any] = {}  # a page reads the same file several times

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

    @property
    def networks(self) -> tuple[str, ...]:
        """The networks of the base study."""
        return STUDIES["train"].models(self.settings.params)

    @property
    def models(self) -> tuple[str, ...]:
        """The columns of Table 2: models that know the task, and those that do not."""
        knowing = [model for model in self.networks if ARCHITECTURES[model].knows_task]
        others = [model for model in self.networks if model not in knowing]
        return (*knowing, *LINEAR, *others)

    def taking_part(self, study: Study[R]) -> tuple[str, ...]:
        """The models that a study has results of: one that cannot take part has no column."""
        return tuple(
            model
            for model in study.models(self.settings.params)
            if not study.reason_against(model)
            and any(self.read(study, dataset, model) for dataset in self.datasets)
        )

    def read(self, study: Study[R], dataset: str, model: str = "") -> R | None:
        """A study's result; None if it is missing, or if the model cannot take part."""
        if dataset not in self.datasets:
            return None
        path = study.path(self.files, dataset, model)
        found = self._once(path, lambda: study.read(self.files, dataset, model))
        return None if isinstance(found, DoesNotApply) else found

    def found(self, study: Study[R], model: str = "") -> dict[str, R]:
        """A study's results by dataset, of those that have one."""
        return {d: result for d in self.datasets if (result := self.read(study, d, model))}

    def every(self, study: Study[R], models: Iterable[str]) -> dict[tuple[str, str], R]:
        """A study's results by dataset and model, of those that have one."""
        places = ((dataset, model) for dataset in self.datasets for model in models)
        return {place: result for place in places if (result := self.read(study, *place))}

    def infos(self) -> dict[str, TableDescription]:
        return {dataset: info for dataset in self.datasets if (info := self.info(dataset))}

    def info(self, dataset: str) -> TableDescription | None:
        """What `prepare` says of a dataset: edition, hashes, features, tasks."""
        if dataset not in self.datasets:
            return None
        path = self.files.table_info(dataset)
        return self._once(path, lambda: read_description(self.files, dataset))

    def benchmark(self, name: str, kind: type[C], remedy: str = "") -> C | None:
        """What a script of benchmarks/ measured; None if it has not run, which the page says."""
        path = benchmark_path(self.files, name)
        return checked.read(path, kind, remedy or _restore(path)) if path.exists() else None

    def benchmark_cases(self, name: str, kind: type[C]) -> list[C]:
        """The same for a script that writes a list."""
        path = benchmark_path(self.files, name)
        cases = read_json(path) if path.exists() else []
        cases = cases if isinstance(cases, list) else [cases]  # damaged, and refused below
        return [checked.parse(path, case, kind, _restore(path)) for case in cases]

    def _once(self, path: Path, read: Any) -> Any:
        if not path.exists():
            self.missing.add(path.relative_to(self.files.root).as_posix())
            return None
        if path not in self._read:
            self._read[path] = read()
        return self._read[path]

    def hashes(self) -> dict[str, str]:
        """Of every result that a page may read: the pages depend on this list.

        Sixteen pages with a dozen folders each would be most of what `dvc repro` looks at.
        """
        root = self.files.root
        found = [
            path
            for path in (root / "results").glob("*/*/*.json")
            if path.parts[-3] in {"data", *STUDIES} and not path.name.endswith(".run.json")
        ]
        found += [benchmark_path(self.files, name) for name in MEASURED]
        return {p.relative_to(root).as_posix(): sha256(p) for p in sorted(found) if p.exists()}

    def comparable(self, dataset: str) -> bool | None:
        """Whether the numbers can be compared with the paper's; None if nobody knows."""
        info = self.info(dataset)
        return info.comparable if info else None

    def label(self, dataset: str) -> str:
        """The dataset's name, with a mark where the data are not the paper's file."""
        return dataset_label(dataset) + ("†" if self.difference(dataset) else "")

    def difference(self, dataset: str) -> str:
        """How the data differ from the paper's, in a sentence; empty if they do not."""
        info = self.info(dataset)
        if info is None or (info.edition == "paper" and not info.differs):
            return ""
        return info.differs or "Not the paper's file."
