"""With the data at hand: raw files, tables, saved networks and leakage, recomputed."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from functools import reduce
from operator import getitem
from pathlib import Path

from pipeline.auditing.findings import Check
from pipeline.auditing.project import Project
from pipeline.auditing.rerunning import reruns
from pipeline.datasets import sources
from pipeline.datasets.fetch import git_blob
from pipeline.files import read_json, sha256
from pipeline.tables import metrics
from pipeline.tables.prepared import Prepared
from pipeline.training.storage import load_network

SAME = 1e-5
"""Relative difference that another processor makes in a network's error, in single precision."""


def raw_files(project: Project) -> Check:
    check = Check("raw files", "Do the raw files have the hashes of raw/sources.yaml?")
    known = sources.load(project.files.sources)
    for dataset in project.settings.params.datasets:
        name = project.settings.dataset(dataset).edition
        for source in known.edition(dataset, name).files:
            path = project.files.raw(dataset, name) / source.name
            if not path.exists():
                check.notes.append(f"{path.relative_to(project.root)} is not here.")
                continue
            expected = source.sha256 or source.git_blob
            actual = sha256(path) if source.sha256 else git_blob(path)
            if expected is None:
                check.notes.append(f"{path.relative_to(project.root)}: no hash is known.")
                continue
            check.ask(
                actual == expected,
                str(path.relative_to(project.root)),
                f"has the hash {actual}, not {expected}",
                f"delete it and run `dvc repro download@{dataset}`",
            )
    return check


def tables(project: Project, scratch: Path, say: Callable[[str], None]) -> Check:
    """Preparation, reproduced to the bit."""
    present = [
        f"prepare@{dataset}"
        for dataset in project.settings.params.datasets
        if (project.root / "raw" / dataset).exists() and f"prepare@{dataset}" in project.recorded
    ]
    check = reruns(project, present, scratch, say)
    check.name, check.question = "tables", "Do the raw files give these very tables?"
    return check


def leakage(project: Project) -> Check:
    """Test rows that stand among the training rows, counted anew in every table."""
    check = Check("leakage", "Are test rows that were trained on counted as the results say?")
    for dataset in _with_table(project):
        where, remedy = f"data/{dataset}/table.parquet", f"`dvc repro prepare@{dataset}`"
        with check.reading(where, remedy):
            prepared = _table(project, dataset)
            count, rows = _leaked(prepared), prepared.info["rows"]
            check.ask(
                count == rows["leaked"],
                where,
                f"{count} training rows are test rows as well; {rows['leaked']} are recorded",
                remedy,
            )
            if count:
                check.notes.append(
                    f"{dataset}: {count} of {rows['train']} training rows are test rows."
                )
    return check


def networks(project: Project, count: int) -> Check:
    """The error of saved networks, chosen at random, on the test rows."""
    check = Check("networks", "Do the saved networks make the errors that the results state?")
    saved = list(_saved(project))
    for dataset, path, result, parts in random.SystemRandom().sample(saved, min(count, len(saved))):
        where = str(path.relative_to(project.root))
        look = "`python -m pipeline audit --rerun` with the stage's name"
        with check.reading(where, look):
            prepared = _table(project, dataset)
            rows = prepared.encode(prepared.frame, project.settings.params.categories)
            test = rows.take(prepared.test_rows())
            error = metrics.rmse(test.y, load_network(path).predict(test))
            stated = reduce(getitem, parts, read_json(result))["rmse"]
            check.ask(
                math.isclose(error, stated, rel_tol=SAME),
                where,
                f"makes an error of {error:.7g}; the result states {stated:.7g}",
                look,
            )
    return check


def _saved(project: Project) -> Iterator[tuple[str, Path, Path, tuple[str, ...]]]:
    """Networks of the base study and of the dimensions, and where their error is stated."""
    params, files = project.settings.params, project.files
    for dataset in _with_table(project):
        models = files.models(dataset)
        for kind in params.models:
            path = models / f"train-{kind}.safetensors"
            if path.exists():
                yield dataset, path, files.result("train", dataset, kind), ()
        for kind in params.varied:
            for path in sorted(models.glob(f"dimension-{kind}/*.safetensors")):
                result = files.result("dimension", dataset, kind)
                yield dataset, path, result, ("dimensions", path.stem)


def _table(project: Project, dataset: str) -> Prepared:
    return Prepared.read(project.files.table(dataset), project.files.table_info(dataset))


def _leaked(prepared: Prepared) -> int:
    """Training rows with a test row's task, features and, to a millionth, target."""
    frame = prepared.frame
    tolerance = 1e-6 * float(frame["target"].std(ddof=0))
    inputs = list(frame[["task", *prepared.features]].itertuples(index=False, name=None))
    targets, parts = frame["target"].tolist(), frame["part"].tolist()
    tested: dict[tuple[object, ...], list[float]] = {}
    for key, target, part in zip(inputs, targets, parts, strict=True):
        if part == "test":
            tested.setdefault(key, []).append(target)
    return sum(
        any(abs(target - other) <= tolerance for other in tested.get(key, ()))
        for key, target, part in zip(inputs, targets, parts, strict=True)
        if part == "train"
    )


def _with_table(project: Project) -> Iterator[str]:
    for dataset in project.settings.params.datasets:
        if project.files.table(dataset).exists() and project.files.table_info(dataset).exists():
            yield dataset
