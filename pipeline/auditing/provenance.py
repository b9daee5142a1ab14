"""The results themselves: what they say they came from, and whether they agree with each other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pipeline.auditing.findings import Check
from pipeline.auditing.project import Project, Recorded, sections
from pipeline.errors import UserError
from pipeline.files import code_digest, read_json

Result = dict[str, Any]
ROUNDED = 1e-5
"""Errors of single tasks are kept with seven digits."""
LOOK = "`git log -p {0}` shows when it changed; `python -m pipeline audit --rerun {1}` recomputes"


def origins(project: Project) -> Check:
    """Every result names the data, the edition, the profile and the code it came from."""
    check = Check("origins", "Does every result name the data, edition, profile and code it is of?")
    digests: dict[tuple[str, ...], str] = {}
    for place, entry, path, result in results_of(project, check):
        study, dataset = path.parts[1], path.parts[2]
        info = table_info(project, dataset)
        look = LOOK.format(path, place)
        code = tuple(sorted(entry.code))
        if code not in digests:
            digests[code] = code_digest(project.root, code)
        expected = {
            "study": study,
            "dataset": dataset,
            "edition": project.settings.dataset(dataset).edition,
            "data": info.get("content_sha256"),
            "code": digests[code],
        }
        if any(file.startswith("profiles/") for file in entry.params):
            expected["profile"] = project.settings.params.profile
        for key, value in expected.items():
            check.ask(
                result.get(key) == value,
                f"{path}: {key}",
                f"is {result.get(key)!r}, not {value!r}",
                look,
            )
    for dataset in project.settings.params.datasets:
        path = project.files.table_info(dataset).relative_to(project.root)
        info = table_info(project, dataset)
        check.ask(
            info.get("edition") == project.settings.dataset(dataset).edition,
            f"{path}: edition",
            f"is {info.get('edition')!r}; params.yaml has another",
            f"`dvc repro prepare@{dataset}`",
        )
    return check


def sums(project: Project) -> Check:
    """The numbers inside a result fit together, and with the results they were made from."""
    check = Check("sums", "Do the numbers in the results agree with each other?")
    for place, _, path, result in results_of(project, check):
        look = LOOK.format(path, place)
        info = table_info(project, path.parts[2])
        with check.reading(str(path), look):
            for where, part in _outcomes(result):
                _overall_error(check, f"{path}: {where}", part, info, look)
            for where, part in _searches(result):
                _chosen_trial(check, f"{path}: {where}best", part, look)
            if result["study"] == "repeats":
                errors = [training["rmse"] for training in result["trainings"]]
                check.ask(
                    (result["min"], result["max"]) == (min(errors), max(errors)),
                    f"{path}: min, max",
                    "are not those of the trainings",
                    look,
                )
            _from_other_results(project, check, path, result, look)
    return check


def _chosen_trial(check: Check, where: str, part: Result, look: str) -> None:
    best = min(part["evaluations"], key=lambda one: one["score"])
    kept = part["plan"]["retry_rate"] ** best["restarts"]
    expected = {**best["settings"], "peak_rate": best["settings"]["peak_rate"] * kept}
    check.ask(
        part["score"] == best["score"] and _same_settings(part["best"], expected),
        where,
        "is not the evaluation with the lowest score, at the rate that did not diverge",
        look,
    )


def _overall_error(check: Check, where: str, part: Result, info: Result, look: str) -> None:
    """The error over all rows is the mean over the tasks, weighted by their test rows."""
    tasks: Mapping[str, float] = part["task_rmse"]
    counts = {name: info["tasks"][name]["test"] for name in tasks if name in info["tasks"]}
    total = sum(counts.values())
    if not check.ask(
        len(counts) == len(tasks) and total > 0, where, "names tasks that the table lacks", look
    ):
        return
    squared = sum(counts[name] * error**2 for name, error in tasks.items()) / total
    check.ask(
        math.isclose(part["rmse"], math.sqrt(squared), rel_tol=ROUNDED),
        f"{where}rmse",
        f"is {part['rmse']}; the tasks' errors make {math.sqrt(squared):.7g}",
        look,
    )
    check.ask(
        math.isclose(part["normalised"], part["rmse"] / info["std"], rel_tol=1e-12),
        f"{where}normalised",
        "is not the error divided by the target's standard deviation",
        look,
    )


def _from_other_results(
    project: Project, check: Check, path: Path, result: Result, look: str
) -> None:
    """Tuned settings and repeated numbers are those of the results they were taken from."""
    study, dataset, model = result["study"], result["dataset"], result.get("model")
    if study in ("train", "dimension"):
        tuned = _read(project, "tune", dataset, model)
        for where, part in _outcomes(result):
            free = ("task_dim",) if study == "dimension" else ()
            check.ask(
                _without(part["hyperparameters"], free) == _without(tuned.get("best", {}), free),
                f"{path}: {where}hyperparameters",
                f"are not those that results/tune/{dataset}/{model}.json chose",
                look,
            )
    if study == "repeats":
        base = _read(project, "train", dataset, model)
        check.ask(
            result["trainings"][0]["rmse"] == base.get("rmse"),
            f"{path}: trainings",
            f"the first is not that of results/train/{dataset}/{model}.json",
            look,
        )
    if study == "holdout":
        half = _read(project, "sizes", dataset, "lc").get("fractions", {}).get("0.5", {})
        tuned = half.get("search", {}).get("best", {})
        for where, part in _outcomes(result):
            check.ask(
                _without(part["hyperparameters"], ("task_dim",)) == _without(tuned, ("task_dim",)),
                f"{path}: {where}hyperparameters",
                f"are not those that results/sizes/{dataset}/lc.json chose on half of the data",
                look,
            )


def results_of(project: Project, check: Check) -> Iterator[tuple[str, Recorded, Path, Result]]:
    """Every result of a study that is here and can be read."""
    for place, entry in project.recorded.items():
        for out in entry.outs:
            path = Path(out)
            if not out.startswith("results/") or path.parts[1] == "data":
                continue
            if path.parts[2] not in project.settings.params.datasets:
                continue  # `stages` has said that the dataset left the list
            try:
                result = read_json(project.root / path)
                if not isinstance(result, dict) or "study" not in result:
                    raise UserError(f"{path}: is no result of a stage")
            except UserError as error:
                check.ask(False, out, str(error), f"`git checkout {out}` restores it")
                continue
            yield place, entry, path, result


def table_info(project: Project, dataset: str) -> Result:
    return _read_or_nothing(project.files.table_info(dataset))


def _read(project: Project, study: str, dataset: str, name: Any) -> Result:
    return _read_or_nothing(project.files.result(study, dataset, str(name)))


def _read_or_nothing(path: Path) -> Result:
    """A file that is missing or damaged is a finding of the hashes already."""
    try:
        content = read_json(path)
    except UserError:
        return {}
    return content if isinstance(content, dict) else {}


def _outcomes(result: Result) -> Iterator[tuple[str, Result]]:
    """Every training in a result: whatever has an error over all rows and one for each task."""
    for where, part in sections(result):
        if isinstance(part.get("task_rmse"), dict) and {"rmse", "normalised"} <= part.keys():
            yield where, part


def _searches(result: Result) -> Iterator[tuple[str, Result]]:
    """Every search in a result."""
    for where, part in sections(result):
        if {"best", "score", "evaluations"} <= part.keys():
            yield where, part


def _same_settings(one: Mapping[str, float], other: Mapping[str, float]) -> bool:
    return one.keys() == other.keys() and all(
        math.isclose(one[name], other[name], rel_tol=ROUNDED) for name in one
    )


def _without(settings: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if name not in names}
