"""Computed again: stages in a scratch copy and, with the data at hand, what else rests on it."""

from __future__ import annotations

import math
import random
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from learned_context import metrics
from learned_context.errors import UserError
from pipeline.auditing.checks import AuditCheck
from pipeline.auditing.project import AuditedResult, Project, run_in
from pipeline.auditing.results import parts, results
from pipeline.datasets.registry import GENERATED
from pipeline.execution.addresses import file_name, resolve_targets
from pipeline.files import Files, run_info
from pipeline.studies.framework.results import TrainingOutcome
from pipeline.studies.plumbing.run_info import read_run_info
from pipeline.studies.repeats import RepeatsResult
from pipeline.tables.prepared import Prepared

VARIES = {"seconds", "cpu_seconds", "profile"}
"""Fields of `*.run.json` that do not affect a result."""
OTHER_MACHINE = 0.1
"""Relative difference that other versions may make where no repeats tell how much it is."""
SAME = 1e-5
"""Relative difference that another processor makes in a network's error, in single precision."""


def choose(project: Project, wanted: Sequence[str]) -> list[str]:
    """Stages by name or, for a number, that many at random of those that can run here."""
    possible = [
        place
        for place, one in project.results.items()
        if one.dataset in GENERATED or project.files.table(one.dataset).exists()
    ]
    chosen: list[str] = []
    for word in wanted:
        if word.isdecimal():
            chosen += random.SystemRandom().sample(possible, min(int(word), len(possible)))
        else:
            chosen += resolve_targets(list(project.results), [word])
    return list(dict.fromkeys(chosen))


def reruns(project: Project, check: AuditCheck, places: Iterable[str]) -> None:
    """A stage that runs again gives the same bits."""
    for place in places:
        copy = project.copy(f"rerun/{file_name(place)}")
        with check.reading(place, "it cannot be run again as things are here"):
            _run(project, place, copy)
            _compare(project, check, place, copy)
        shutil.rmtree(copy)


def _run(project: Project, place: str, copy: Path) -> None:
    """Bring the inputs of a stage to the copy, and run it there."""
    stages = project.records.stages
    for path in stages[place].deps:
        if (copy / path).exists() or project.bring(path, copy):
            continue
        makers = [maker for maker, stage in stages.items() if path in stage.outs]
        if not makers:
            raise UserError(f"{path}: is missing and no stage makes it; `git checkout {path}`")
        _run(project, makers[0], copy)  # data that is not here is made, or downloaded, first
    project.say(f"running again: {place}")
    problem = run_in(copy, *stages[place].arguments)
    if problem:
        raise UserError(f"{place} cannot be run again: {problem}")


def _compare(project: Project, check: AuditCheck, place: str, copy: Path) -> None:
    outs, result = project.records.stages[place].outs, project.results.get(place)
    equal = {out: project.records.hash_of(copy / out) == hash_ for out, hash_ in outs.items()}
    # Where one output has the same bits, versions and processor were the same.
    comparable = any(equal.values()) or result is None or _same_machine(result, copy)
    for out, same in equal.items():
        if same or (comparable and place not in project.stale):
            what = f"{place} gave other bits with the same code, versions and processor kind"
            check.expect(same, out, what, f"`dvc repro --force {place}` and `git diff`")
        elif result and out == result.path:
            _within_spread(check, result, copy)


def _same_machine(result: AuditedResult, copy: Path) -> bool:
    """Whether a result was made with the same versions, processor kind and device before."""
    before, after = (
        read_run_info(root / result.path).model_dump(exclude=VARIES)
        for root in (result.project.root, copy)
    )
    return before == after


def _within_spread(check: AuditCheck, result: AuditedResult, copy: Path) -> None:
    """Other code, versions or processors may change an error as much as another seed does."""
    of = (result.dataset, result.model)
    ours, again = (
        {where: part.rmse for where, part in parts(content) if hasattr(part, "rmse")}
        for content in (result.content, result.study.read(Files(copy), *of))
    )
    allowed = OTHER_MACHINE
    for other in results(result.project):
        repeats = other.content
        if (other.dataset, other.model) == of and isinstance(repeats, RepeatsResult):
            allowed = max(allowed, repeats.max / repeats.min - 1)
    path = result.path
    check.notes.append(f"{path}: other code, versions or processor; {allowed:.0%} is allowed.")
    look = f"{run_info(Path(path))} has the versions it was made with"
    for where in sorted({*ours, *again}):
        one, two = ours.get(where, math.nan), again.get(where, math.nan)
        what = f"is {one:.6g}, now {two:.6g}: further apart than other seeds make it"
        close = math.isclose(one, two, rel_tol=allowed)
        check.expect(close, f"{path}: {where}rmse", what, look)


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
