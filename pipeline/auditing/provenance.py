"""The results themselves: what they say they came from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipeline.auditing.findings import Check
from pipeline.auditing.project import Project, Recorded
from pipeline.datasets import sources
from pipeline.errors import UserError
from pipeline.files import code_digest, read_json

Result = dict[str, Any]
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
        if path.stem != study:  # linear.json and clean.json hold more than one model
            expected["model"] = path.stem
        if any(file.startswith("profiles/") for file in entry.params):
            expected["profile"] = project.settings.params.profile
        for key, value in expected.items():
            check.ask(
                result.get(key) == value,
                f"{path}: {key}",
                f"is {result.get(key)!r}, not {value!r}",
                look,
            )
    known = sources.load(project.files.sources)
    for dataset in project.settings.params.datasets:
        path = project.files.table_info(dataset).relative_to(project.root)
        remedy = f"`dvc repro prepare@{dataset}`"
        with check.reading(str(path), remedy):
            for key, stated, value in _of_table(project, known, dataset):
                what = f"is {stated!r}; params.yaml, raw/sources.yaml and the tasks give {value!r}"
                check.ask(stated == value, f"{path}: {key}", what, remedy)
    return check


def _of_table(
    project: Project, known: sources.Sources, dataset: str
) -> Iterator[tuple[str, Any, Any]]:
    """What a table's description states, and what other files give."""
    info, seeds = table_info(project, dataset), project.settings.params.seeds
    name = project.settings.dataset(dataset).edition
    yield "edition", info["edition"], name
    yield "seeds", info["seeds"], {key: getattr(seeds, key) for key in info["seeds"]}
    for part in ("train", "test"):
        total = sum(task[part] for task in info["tasks"].values())
        yield f"rows.{part}", info["rows"][part], total
    edition = known.edition(dataset, name)
    yield "comparable", info["comparable"], edition.comparable
    yield "differs", info["differs"], edition.differs
    if edition.files:
        yield "raw", sorted(info["raw"]), sorted(file.name for file in edition.files)
    for file in edition.files:
        if file.sha256:
            yield f"raw.{file.name}", info["raw"][file.name], file.sha256


def results_of(project: Project, check: Check) -> Iterator[tuple[str, Recorded, Path, Result]]:
    """Every result of a study that is here and can be read."""
    for place, entry in project.recorded.items():
        for out in entry.outs:
            path = Path(out)
            if path.parts[0] != "results" or len(path.parts) != 4 or path.parts[1] == "data":
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


def other_result(project: Project, study: str, dataset: str, name: Any) -> Result:
    return _read_or_nothing(project.files.result(study, dataset, str(name)))


def _read_or_nothing(path: Path) -> Result:
    """A file that is missing or damaged is a finding of the hashes already."""
    try:
        content = read_json(path)
    except UserError:
        return {}
    return content if isinstance(content, dict) else {}
