"""What was asked of every training: seeds, budgets and rows follow from files that are in git.

A lucky seed or a longer training in one result would else need no more than a forged hash. The
rules are written here once more, on purpose: an audit that called the trainers' own code would
agree with whatever that code does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from pipeline.auditing.findings import Check
from pipeline.auditing.project import Project
from pipeline.auditing.provenance import LOOK, Result, results_of, table_info
from pipeline.errors import UserError
from pipeline.files import read_json, run_info
from pipeline.settings import Budget
from pipeline.tables.selection import GROUPS

Expected = Iterator[tuple[str, Any, Any]]
"""Where, what the result states, what params.yaml, the profile and the table give."""


def asked(project: Project) -> Check:
    check = Check("asked", "Were the trainings asked for what the parameters and the profile say?")
    locked = project.locked_versions
    remedy = "`git checkout requirements.lock`"
    check.ask(bool(locked), "requirements.lock", "is missing or pins no version", remedy)
    for place, _, path, result in results_of(project, check):
        look = LOOK.format(path, place)
        with check.reading(str(path), look):
            for where, stated, expected in _expected(project, result):
                said = f"is {stated!r}; the parameters, the profile and the table give {expected!r}"
                check.ask(stated == expected, f"{path}: {where}", said, look)
        versions = _versions(run_info(project.root / path))
        check.ask(bool(versions), str(run_info(path)), "names no versions", look)
        for name, version in versions.items():
            check.ask(
                name not in locked or version.partition("+")[0] == locked[name],
                f"{run_info(path)}: {name}",
                f"is {version}; requirements.lock has {locked.get(name)}",
                "run the stage again with the locked versions",
            )
    return check


def _expected(project: Project, result: Result) -> Expected:
    study, model = result["study"], result.get("model")
    params, profile = project.settings.params, project.settings.profile
    rows = table_info(project, result["dataset"]).get("rows", {})

    def seed(purpose: str, *parts: object) -> int:
        base = getattr(params.seeds, purpose)
        text = "/".join(map(str, (base, purpose, result["dataset"], *parts)))
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4])

    def plan(count: int, budgets: tuple[Budget, ...], max_restarts: int) -> dict[str, Any]:
        budget = next(b for b in budgets if b.rows_below is None or count < b.rows_below)
        return {
            "epochs": budget.epochs,
            "batches": budget.batches,
            "window_min": profile.train.window_min,
            "max_restarts": max_restarts,
            "compile": profile.train.compile,
            **params.network.model_dump(),
            **params.schedule.model_dump(),
        }

    def search(where: str, part: Result, fraction: float, total: int) -> Expected:
        count = part["rows"]["fit"]
        yield f"{where}rows", count + part["rows"]["validation"], total
        yield f"{where}seed", part["seed"], seed("search", model, fraction)
        settings = profile.search
        yield f"{where}plan", part["plan"], plan(count, settings.budget, settings.max_restarts)
        yield f"{where}evaluations", len(part["evaluations"]), settings.evaluations

    def training(where: str, part: Result, fraction: float) -> Expected:
        count = part["rows"]["train"]
        yield f"{where}rows.test", part["rows"]["test"], rows["test"]
        yield f"{where}seed", part["seed"], seed("train", model, fraction, 0)
        settings = profile.train
        yield f"{where}plan", part["plan"], plan(count, settings.budget, settings.max_restarts)

    if study == "tune":
        yield from search("", result, 1.0, rows["train"])
    elif study == "train":
        yield "rows.train", result["rows"]["train"], rows["train"]
        yield from training("", result, 1.0)
    elif study == "sizes":
        yield "fractions", list(result["fractions"]), [str(share) for share in params.fractions]
        for name, part in result["fractions"].items():
            yield from training(f"fractions.{name}.", part, float(name))
            total = part["rows"]["train"]
            yield from search(f"fractions.{name}.search.", part["search"], float(name), total)
    elif study == "repeats":
        trainings = result["trainings"]
        yield "trainings: count", len(trainings), profile.repeats
        seeds = [seed("train", model, 1.0, number) for number, _ in enumerate(trainings)]
        yield "trainings: seeds", [one["seed"] for one in trainings], seeds
    elif study == "dimension":
        sizes = [str(size) for size in profile.dimensions]
        yield "dimensions", list(result["dimensions"]), sizes
        for name, part in result["dimensions"].items():
            expected = seed("train", model, "dimension", int(name))
            yield f"dimensions.{name}.seed", part["seed"], expected
            yield f"dimensions.{name}", part["hyperparameters"]["task_dim"], int(name)
    elif study == "holdout":
        found = [
            (one["group"], one["hyperparameters"]["task_dim"], one["seed"])
            for one in result["networks"]
        ]
        yield (
            "networks: group, dimension, seed",
            found,
            [
                (group, size, seed("train", "lc", "holdout", group, size))
                for group in range(GROUPS)
                for size in profile.holdout.dimensions
            ],
        )
    elif study == "adapt":
        yield "settings", result["settings"], profile.holdout.model_dump(mode="json")
        wanted = product(range(GROUPS), profile.holdout.dimensions, profile.holdout.shares)
        fits = [(one["group"], one["task_dim"], one["share"]) for one in result["fits"]]
        yield "fits: group, dimension, share", fits, list(wanted)
        lipo = [share in profile.holdout.lipo.shares for _, _, share in fits]
        yield "fits: lipo", ["lipo" in one for one in result["fits"]], lipo
    elif study == "linear":
        yield "rows", result["rows"], {part: rows[part] for part in ("train", "test")}
    elif study == "clean":
        counts = result["rows"]
        yield "rows.test", counts["test"], rows["test"]
        yield "rows", counts["train"] + counts["leaked"], rows["train"]
        yield "rows.leaked", counts["leaked"], rows["leaked"]
        leaks = counts["leaked"] / counts["test"] > params.leak_share
        yield "models", list(result["models"]), list(params.compared) if leaks else []
        for kind, part in result["models"].items():
            yield f"models.{kind}.seed", part["seed"], seed("train", kind, "clean")


def _versions(path: Path) -> dict[str, str]:
    """Those beside a result; a file that is missing or damaged is a finding of the seals."""
    try:
        found = read_json(path)["versions"]
        return {str(name): str(version) for name, version in found.items()}
    except (UserError, AttributeError, KeyError, TypeError):
        return {}
