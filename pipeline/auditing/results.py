"""The results of the studies: their origins, what was expected of them, and their sums.

Everything follows from the studies' declarations and from the types of their results, so that a
new study is audited as soon as it is declared.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from learned_context.errors import UserError
from pipeline.auditing.checks import AuditCheck
from pipeline.auditing.project import CODE, AuditedResult, Project
from pipeline.checked import Checked
from pipeline.datasets import sources
from pipeline.files import Files, code_digest, run_info
from pipeline.studies.framework.plans import final_plan, search_plan
from pipeline.studies.framework.results import (
    ROUNDED,
    DoesNotApply,
    PartRows,
    Scored,
    TrainingOutcome,
)
from pipeline.studies.plumbing.basis import Expectation, Expectations
from pipeline.studies.plumbing.run_info import read_run_info
from pipeline.studies.tune import SearchRecord
from pipeline.tables.description import read_description


def results(project: Project, check: AuditCheck | None = None) -> Iterator[AuditedResult]:
    """Every result that is here and can be read; the others are reported to `check`."""
    for place, one in project.results.items():
        if place not in project.records.stages or not (project.root / one.path).exists():
            continue  # a finding of the stages, or of the hashes
        try:
            _ = one.content
        except UserError as error:
            if check and one.stale:
                project.stale[place] += "; its result has another shape now"
            elif check:
                check.expect(False, one.path, str(error), one.look)
            continue
        yield one


def origins(project: Project, check: AuditCheck) -> None:
    """Every result names the data, the edition, the profile and the code it came from."""
    digest = cache(lambda code: code_digest(project.root, code))

    def head(one: AuditedResult) -> Expectations:
        yield from _stated(one.content, study=one.study.name, dataset=one.dataset)
        yield from _stated(one.content, model=one.model or None, data=one.table.content_sha256)
        if not one.stale:
            deps = project.records.stages[one.place].deps
            code = digest(tuple(path for path in deps if path.startswith(CODE)))
            yield from _stated(one.content, profile=project.settings.params.profile, code=code)
            edition = project.settings.dataset(one.dataset).edition
            yield from _stated(one.content, edition=edition)

    for one in results(project, check):
        _compare(check, one.path, one.look, head(one))
    for dataset in project.settings.params.datasets:
        path = Files().table_info(dataset).as_posix()
        look = f"`git log -p -- {path}`; `dvc repro --force prepare@{dataset}` makes it again"
        _compare(check, path, look, _of_table(project, dataset))


def _of_table(project: Project, dataset: str) -> Expectations:
    """What a table's description states, and what other files give."""
    table = read_description(project.files, dataset)
    tasks = table.tasks.values()
    train, test = sum(task.train for task in tasks), sum(task.test for task in tasks)
    yield from _stated(table.rows, "rows.", train=train, test=test)
    if f"prepare@{dataset}" in project.stale:
        return
    name = project.settings.dataset(dataset).edition
    yield from _stated(table, edition=name, seeds=project.settings.table_seeds(dataset))
    edition = sources.load(project.files.sources).edition(dataset, name)
    yield from _stated(table, comparable=edition.comparable, differs=edition.differs)
    if edition.files:
        hashes = {file.name: file.sha256 or table.raw.get(file.name) for file in edition.files}
        yield from _stated(table, raw=hashes)


def expected_settings(project: Project, check: AuditCheck) -> None:
    """Seeds, budgets, rows and versions are those of the settings, the table and the lock file."""
    for one in results(project):
        if not one.stale:
            _compare(check, one.path, one.look, _expected(one))
        path = run_info(Path(one.path)).as_posix()
        look = f"run it with the locked versions: `dvc repro --force {one.place}`"
        _compare(check, path, look, _versions(one))


def _expected(one: AuditedResult) -> Expectations:
    stated = list(one.content.expected(one.basis))
    yield from stated
    yield from _by_type(one)
    # A seed or hyperparameters that the study does not state would not be audited.
    places = {expectation.where for expectation in stated}
    for where, part in parts(one.content):
        for name in {"seed", "hyperparameters"} & type(part).model_fields.keys():
            if where + name not in places:
                rule = f"stated by {type(one.content).__name__}.expected"
                yield Expectation(where + name, "not stated", rule)


def _versions(one: AuditedResult) -> Expectations:
    """Those that a run recorded beside its result."""
    locked, run = one.project.locked_versions, read_run_info(one.project.root / one.path)
    found = {name: version.partition("+")[0] for name, version in run.versions.items()}
    yield Expectation("versions", found, {name: locked.get(name) for name in found})


def _by_type(one: AuditedResult) -> Expectations:
    """What every result that has such a part must hold."""
    settings = one.project.settings
    search = settings.profile.search
    stops = any(isinstance(read, DoesNotApply) for read in one.basis.inputs.values())
    excluded = stops or bool(one.study.reason_against(one.model))
    yield Expectation("does_not_apply", isinstance(one.content, DoesNotApply), excluded)
    for where, part in parts(one.content):
        if isinstance(part, SearchRecord):
            held = sum(not trial.diverged for trial in part.evaluations)
            finals, most = len(part.finalists or ()), min(search.finalists, held)
            in_full = final_plan(settings, part.rows.fit + part.rows.validation) if finals else None
            plan = search_plan(settings, part.rows.fit)
            yield from _stated(part, where, plan=plan, final_plan=in_full)
            yield Expectation(f"{where}evaluations", len(part.evaluations), search.evaluations)
            # Trials that lie close together are one candidate, so there may be fewer.
            yield Expectation(f"{where}finalists", finals, max(min(finals, most), most > 0))
        elif isinstance(rows := getattr(part, "rows", None), PartRows):
            yield from _stated(rows, f"{where}rows.", test=one.table.rows.test)
            if hasattr(part, "plan"):
                yield from _stated(part, where, plan=final_plan(settings, rows.train))


def _stated(part: Checked, where: str = "", **expected: Any) -> Expectations:
    """The fields of a part of a result, by their names."""
    for name, value in expected.items():
        yield Expectation(where + name, getattr(part, name), value)


def sums(project: Project, check: AuditCheck) -> None:
    """The numbers inside a result fit together, and to the table; this holds for stale ones too."""
    for one in results(project):
        _compare(check, one.path, one.look, _sums(one))


def _sums(one: AuditedResult) -> Expectations:
    retry_rate = one.project.settings.params.schedule.retry_rate
    for where, part in parts(one.content):
        if isinstance(part, Scored):
            tested, named = one.table.test_rows.keys(), part.task_rmse.keys()
            names = named & tested if not part.of_all_tasks else tested
            yield Expectation(f"{where}task_rmse", sorted(named), sorted(names))
            if named == names:
                total = one.table.error_over_all(part.task_rmse)
                yield Expectation(f"{where}rmse", part.rmse, total, ROUNDED)
            normalised = part.rmse / one.table.std
            yield Expectation(f"{where}normalised", part.normalised, normalised, 1e-12)
        if isinstance(part, TrainingOutcome):  # repeated at a lower rate if it diverged (App. C)
            rate = part.hyperparameters.peak_rate * retry_rate**part.restarts
            yield Expectation(f"{where}peak_rate", part.peak_rate, rate, ROUNDED)


def parts(content: object, where: str = "") -> Iterator[tuple[str, Checked]]:
    """Every typed part of a result, with its place: `fractions.0.5.search.`."""
    if isinstance(content, Checked):
        yield where, content
        content = {name: getattr(content, name) for name in type(content).model_fields}
    elif isinstance(content, list) and content and not isinstance(content[0], float):
        content = dict(enumerate(content))
    if isinstance(content, dict):
        for key, value in content.items():
            yield from parts(value, f"{where}{key}.")


def _compare(check: AuditCheck, path: str, look: str, expectations: Expectations) -> None:
    with check.reading(path, look):
        for where, found, expected, tolerance in expectations:
            if tolerance and math.isclose(found, expected, rel_tol=tolerance):
                found = expected
            check.compare(f"{path}: {where}", found, expected, "other files give the latter", look)
