"""With the data at hand: tables, saved networks and leakage, recomputed."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from pathlib import Path

from learned_context import metrics
from pipeline.auditing.checks import AuditCheck
from pipeline.auditing.project import AuditedResult, Project
from pipeline.auditing.rerunning import reruns
from pipeline.auditing.results import parts, results
from pipeline.studies.framework.results import TrainingOutcome
from pipeline.tables.prepared import Prepared

SAME = 1e-5
"""Relative difference that another processor makes in a network's error, in single precision."""


def tables(project: Project, check: AuditCheck) -> None:
    """The raw files give these tables, to the bit.

    A table's description holds the SHA-256 of its raw files, which `origins` compares with
    raw/sources.yaml.
    """
    datasets, raw = project.settings.params.datasets, project.root / "raw"
    here = [f"prepare@{dataset}" for dataset in datasets if (raw / dataset).exists()]
    reruns(project, check, [place for place in here if place in project.current])


def leakage(project: Project, check: AuditCheck) -> None:
    """Every training row that is a test row as well is counted as such."""
    for dataset, prepared in _tables(project, check):
        where, look = f"data/{dataset}/table.parquet", f"`dvc repro prepare@{dataset}`"
        count, rows = leaked_rows(prepared), prepared.info.rows
        check.compare(where, rows.leaked, count, "the latter are in both parts", look)
        if count:
            check.notes.append(f"{dataset}: {count} of {rows.train} training rows are test rows.")


def networks(project: Project, check: AuditCheck, count: int) -> None:
    """The saved networks make the errors that the results state."""
    tables = dict(_tables(project, check))
    saved = [one for one in _saved(project) if one[0].dataset in tables]
    if saved:  # torch: an audit without networks does not need it
        from learned_context.training.storage import load_network
    for one, path, part in random.SystemRandom().sample(saved, min(count, len(saved))):
        where = path.relative_to(project.root).as_posix()
        look = f"`python -m pipeline audit --rerun {one.place}`"
        with check.reading(where, look):
            prepared = tables[one.dataset]
            rows = prepared.encode(prepared.frame, project.settings.params.categories)
            test = rows.take(prepared.test_rows())
            error = metrics.rmse(test.y, load_network(path).predict(test))
            what = f"makes an error of {error:.7g}; the result states {part.rmse:.7g}"
            check.expect(math.isclose(error, part.rmse, rel_tol=SAME), where, what, look)


def _saved(project: Project) -> Iterator[tuple[AuditedResult, Path, TrainingOutcome]]:
    """The networks that are here, each with the part of a result that states its error."""
    for one in results(project):
        for where, part in parts(one.content):
            if isinstance(part, TrainingOutcome) and part.of_all_tasks:
                path = one.study.networks_path(project.files, one.dataset, one.model)
                if where:
                    path /= f"{where.split('.')[1]}.safetensors"
                if path.exists():
                    yield one, path, part


def _tables(project: Project, check: AuditCheck) -> Iterator[tuple[str, Prepared]]:
    """The tables that are here, by dataset."""
    files = project.files
    for dataset in project.settings.params.datasets:
        if files.table(dataset).exists():
            with check.reading(f"data/{dataset}", f"`dvc repro --force prepare@{dataset}`"):
                yield dataset, Prepared.read(files, dataset)


def leaked_rows(prepared: Prepared) -> int:
    """Training rows with a test row's task, features and, to a millionth, target."""
    keys = ["task", *prepared.features]
    frame = prepared.frame[[*keys, "target", "part"]].reset_index(names="row")
    train, test = (frame[frame["part"] == part] for part in ("train", "test"))
    pairs = train.merge(test, on=keys, suffixes=("", "_tested"))
    apart = (pairs["target"] - pairs["target_tested"]).abs()
    return int(pairs.loc[apart <= 1e-6 * frame["target"].std(ddof=0), "row"].nunique())
