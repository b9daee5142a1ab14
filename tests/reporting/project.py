"""A project with results of all ten datasets that say what the paper says, times a factor."""

from __future__ import annotations

import json
import math
import random
import shutil
from pathlib import Path

import yaml

from tests.conftest import ROOT

DIMENSIONS = (1, 2, 4, 8, 16)
SHARES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0)
PAPER = yaml.safe_load((ROOT / "reports/paper.yaml").read_text())["tables"]
NOT_COMPARABLE = {"obesity", "height"}
NAMES = {
    "inflation": [f"C{i:02}" for i in range(12)],
    "bike_sharing": [f"{year}-{month:02}" for year in (2011, 2012) for month in range(1, 13)],
    "death_rate": [
        f"{country} {year}"
        for country in ("ETH", "HTI", "ZMB", "NOR", "IND", "NGA", "AAA")
        for year in (2000, 2005, 2010, 2015, 2019)
    ],
}
FEATURES = {"inflation": "time", "bike_sharing": "hr", "death_rate": "age"}
ROWS = {"train": 10, "test": 5}
BEST = {
    "peak_rate": 0.2,
    "width": 80,
    "lambda_shared": 1e-9,
    "lambda_task": 1e-8,
    "task_dim": 6,
}
TRIALS = [
    {"settings": BEST, "score": 1.2 / (i + 1) + 0.1 * (i % 3), "restarts": 0, "diverged": i == 3}
    for i in range(25)
]
SEARCH = {
    "seed": 1,
    "rows": {"fit": 8, "validation": 2},
    "plan": {"retry_rate": 0.9},
    "space": [{"name": "width", "low": 50, "high": 500, "logarithmic": False, "integer": True}],
    "best": BEST,
    "score": min(trial["score"] for trial in TRIALS),
    "evaluations": TRIALS,
}
WITHOUT = {
    "dimension": ("cs",),
    "adapt": ("cs", "ll"),
    "holdout": ("cs", "ll"),
    "illustrate": ("cs", "ll"),
}
"""Studies that a model cannot take part in."""


def printed(table: str, dataset: str) -> dict[str, float]:
    return dict(zip(PAPER[table]["columns"], PAPER[table]["rows"][dataset], strict=True))


def write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))


class Project:
    """The project at `root`; `make` writes its files."""

    def __init__(self, root: Path, factor: float = 1.0, datasets: tuple[str, ...] = ()) -> None:
        self.root, self.factor = root, factor
        self.datasets = datasets or tuple(PAPER["base"]["rows"])

    def make(self) -> Project:
        root = self.root
        shutil.copytree(ROOT / "profiles", root / "profiles")
        shutil.copytree(ROOT / "reports/notebooks", root / "reports/notebooks")
        shutil.copy(ROOT / "reports/paper.yaml", root / "reports/paper.yaml")
        (root / "raw").mkdir()
        shutil.copy(ROOT / "raw/sources.yaml", root / "raw/sources.yaml")
        params = yaml.safe_load((ROOT / "params.yaml").read_text())
        params |= {"datasets": list(self.datasets), "profile": "paper"}
        params["base_only"] = ["fs", "film"]
        (root / "params.yaml").write_text(yaml.safe_dump(params))
        for number, dataset in enumerate(self.datasets):
            self.random = random.Random(number)
            self._dataset(dataset)
        return self

    def path(self, study: str, dataset: str, name: str) -> Path:
        return self.root / "results" / study / dataset / f"{name}.json"

    def read(self, study: str, dataset: str, name: str) -> dict:
        return json.loads(self.path(study, dataset, name).read_text())

    def save(self, study: str, dataset: str, name: str, **content: object) -> None:
        edition = "gho" if dataset in NOT_COMPARABLE else "paper"
        head: dict = {"dataset": dataset, "edition": edition}
        if study != "data":
            head |= {"study": study, "profile": "paper", "data": "0" * 64, "code": "c0de"}
            head |= {"model": name} if name not in ("linear", "clean") else {}
        write(self.path(study, dataset, name), head | content)

    def _dataset(self, dataset: str) -> None:
        tasks = NAMES.get(dataset, [f"task {i}" for i in range(7)])
        if dataset == "sine_and_line":
            tasks = [f"{kind} {i}" for kind in ("line", "sine") for i in range(20)]
        self._info(dataset, tasks)
        self._base(dataset, tasks)
        self._studies(dataset, tasks)
        self._illustrate(dataset, tasks)

    def _info(self, dataset: str, tasks: list[str]) -> None:
        size = printed("datasets", dataset)
        about: dict[str, dict] = {task: {"train": 10, "test": 5} for task in tasks}
        if dataset == "sine_and_line":
            for task in tasks:
                kind = task.split()[0]
                names = ("slope", "intercept") if kind == "line" else ("amplitude", "phase")
                about[task] |= {"kind": kind, **{n: self.random.uniform(0, 3) for n in names}}
        fill = {
            f"filler {i}": {"train": 1, "test": 1} for i in range(int(size["tasks"]) - len(tasks))
        }
        self.save(
            "data",
            dataset,
            "table",
            comparable=dataset not in NOT_COMPARABLE,
            differs="Other years." if dataset in NOT_COMPARABLE else "",
            raw={"file.csv": "ab" * 32},
            split="TaskShare",
            keys={"edition": "paper"},
            seeds={"data": 1, "split": 2},
            features=self._features(dataset, int(size["features"])),
            target="target",
            unit="units",
            task="task",
            std=size["std"],
            rows={"train": int(size["train"]), "test": int(size["test"]), "leaked": 3},
            tasks=about | fill,
            content_sha256="0" * 64,
        )

    def _features(self, dataset: str, count: int) -> list[dict]:
        names = [FEATURES.get(dataset, "x"), *(f"x{i}" for i in range(1, count))]
        return [{"name": name, "kind": "number", "unit": ""} for name in names]

    def _scored(self, rmse: float, std: float, tasks: list[str]) -> dict:
        by_task = {task: rmse * self.random.lognormvariate(0, 0.3) for task in tasks}
        return {"rmse": rmse, "normalised": rmse / std, "task_rmse": by_task}

    def _outcome(self, rmse: float, std: float, tasks: list[str]) -> dict:
        return {
            **self._scored(rmse, std, tasks),
            "seed": 1,
            "hyperparameters": BEST,
            "restarts": 0,
            "peak_rate": 0.1,
            "epochs": 40,
            "finished": "the last epoch",
        }

    def _base(self, dataset: str, tasks: list[str]) -> None:
        std = printed("datasets", dataset)["std"]
        errors = {m: value * self.factor for m, value in printed("base", dataset).items()}
        self.save(
            "linear",
            dataset,
            "linear",
            rows=ROWS,
            **{m: self._scored(errors[m], std, tasks) | {"converged": True} for m in ("lr", "lme")},
        )
        curve = {
            "epoch": list(range(1, 41)),
            "loss": [1 / (i + 1) for i in range(40)],
            "rate": [0.2 * 0.8 ** max(0, i - 4) * min(1, (i + 1) / 5) for i in range(40)],
        }
        cells = [[i, min(39, max(0, i + self.random.randint(-3, 3))), i + 1] for i in range(40)]
        cells = sorted({(i, j): [i, j, n] for i, j, n in cells}.values())
        errors["film"] = 1.05 * errors["lc"]  # the paper has no such model
        for model in ("lc", "cs", "ll", "fs", "film"):
            self.save("tune", dataset, model, **SEARCH)
            self.save(
                "train",
                dataset,
                model,
                rows=ROWS,
                plan={},
                **self._outcome(errors[model], std, tasks),
                curve=curve,
                observed_predicted={"low": -2.0, "high": 2.0, "bins": 40, "cells": cells},
            )

    def _studies(self, dataset: str, tasks: list[str]) -> None:
        lc = printed("base", dataset)["lc"] * self.factor
        std = printed("datasets", dataset)["std"]
        repeats, sizes = printed("repeats", dataset), printed("sizes", dataset)
        for model in ("lc", "cs", "ll"):
            low, high = (repeats[f"{model} {end}"] * lc for end in ("min", "max"))
            errors = [low, *(low + (high - low) * i / 9 for i in range(1, 9)), high]
            restarts = [int(repeats[f"{model} diverged"]), *[0] * 9]
            self.save(
                "repeats",
                dataset,
                model,
                min=low,
                max=high,
                diverged=sum(restarts),
                trainings=[
                    {"seed": 1, "rmse": error, "restarts": n, "epochs": 40, "peak_rate": 0.1}
                    for error, n in zip(errors, restarts, strict=True)
                ],
            )
            fractions = {
                share: self._outcome(sizes[f"{model} {share}"] * self.factor * std, std, tasks)
                | {"rows": ROWS, "plan": {}, "search": SEARCH}
                for share in ("0.5", "0.1")
            }
            self.save("sizes", dataset, model, fractions=fractions)
        for model, slope in (("lc", 0.5), ("ll", 2.0)):
            dimensions = {}
            for d in DIMENSIONS:
                factor = 1 + (0 if dataset == "sine_and_line" and d >= 4 else slope / d)
                outcome = self._outcome(lc * factor, std, tasks)
                if d <= 2:
                    outcome["task_parameters"] = {
                        task: [self.random.gauss(0, 0.1) for _ in range(d)] for task in tasks
                    }
                dimensions[str(d)] = outcome
            self.save("dimension", dataset, model, dimensions=dimensions)
        fits = [
            {
                "group": group,
                "task_dim": int(d),
                "share": share,
                "rows": 10,
                "gauss_newton": self._fit(lc * (1.05 + 0.01 * int(d) / share)),
                "lipo": self._fit(lc * ratio * (1 + 0.3 * -math.log10(share)), 1.0),
            }
            for group in range(3)
            for d, ratio in printed("holdout", dataset).items()
            for share in SHARES
        ]
        groups = [tasks[i::3] for i in range(3)]
        self.save("adapt", dataset, "lc", settings={}, groups=groups, fits=fits)
        self.save("holdout", dataset, "lc", networks=[])
        clean = {m: self._outcome(lc * 1.4, std, tasks) for m in ("lc", "cs", "ll")}
        rows = ROWS | {"leaked": 3}
        self.save("clean", dataset, "clean", rows=rows, models=clean if dataset == "sarcos" else {})
        for study, models in WITHOUT.items():
            for model in models:
                self.save(study, dataset, model, does_not_apply="it has no task parameters")

    def _fit(self, rmse: float, worse: float = 0.0) -> dict:
        objective = [5.0 + worse * self.random.random() for _ in range(4)]
        return {"rmse": rmse, "task_rmse": [rmse] * 4, "objective": objective}

    def _illustrate(self, dataset: str, tasks: list[str]) -> None:
        grid = [i / 10 for i in range(11)]
        levels = ("female", "male") if dataset == "death_rate" else ("",)
        beta = [b / 5 for b in range(-3, 4)]
        content: dict = {
            "task_uncertainty": {d: {t: [0.02] * int(d) for t in tasks} for d in ("1", "2")},
            "curves": {
                "feature": FEATURES.get(dataset, "x"),
                "grid": [g * 80 for g in grid] if dataset == "death_rate" else grid,
                "level_feature": "sex" if dataset == "death_rate" else None,
                "tasks": {t: {level: [g * g for g in grid] for level in levels} for t in tasks},
            },
            "response": {
                "feature": "x",
                "grid": grid,
                "beta": beta,
                "values": [[math.sin(6 * (g + b)) for g in grid] for b in beta],
            },
            "explorer": {
                "target_mean": {t: float(place) for place, t in enumerate(tasks)},
                "metric": [[4.0, 0.0], [0.0, 1.0]],
                "planes": [
                    {
                        "feature": feature,
                        "grid": grid,
                        "beta": [beta, beta],
                        "levels": {
                            level: [
                                [math.sin(6 * (g + b)) + c + place for g in grid]
                                for b in beta
                                for c in beta
                            ]
                            for place, level in enumerate(levels)
                        },
                    }
                    for feature in (FEATURES.get(dataset, "x"), "x1")
                ],
                "points": {
                    "features": [FEATURES.get(dataset, "x"), "x1"],
                    "tasks": {
                        t: [[i % 2, i % len(levels), i / 4, i / 8, i / 6] for i in range(8)]
                        for t in tasks
                    },
                },
            },
        }
        if dataset == "frequency":
            bump = [[math.exp(-((g - 0.4) ** 2) * 20 * (n + 1)) for g in grid] for n in range(4)]
            content["likelihood"] = {
                "omega": 1.5,
                "points": [[0.1, 0.9], [0.4, 0.3], [0.7, 0.5], [0.9, 0.8]],
                "true": {"grid": [0.5 + 3.5 * g for g in grid], "rows": bump},
                "model": {"grid": grid, "rows": bump},
                "curves": {"grid": grid, "truth": grid, "samples": [[grid, grid[::-1]]] * 4},
            }
        if dataset in FEATURES:
            content["observed"] = self._observed(dataset, tasks)
        self.save("illustrate", dataset, "lc", **content)

    def _observed(self, dataset: str, tasks: list[str]) -> dict:
        """What the illustrate stage takes from the data itself."""
        if dataset == "inflation":
            years = [1970.0 + i for i in range(30)]
            return {"grid": years, "tasks": {t: [i / 30 for i in range(30)] for t in tasks}}
        if dataset == "bike_sharing":
            hours = ["8", "12", "17", "22"]
            return {"hours": hours, "tasks": {t: {h: [9.0, 2.0] for h in hours} for t in tasks}}
        points = [
            [80 * i / 30, ("female", "male")[i % 2], "train" if i % 3 else "test", i / 30]
            for i in range(30)
        ]
        return {"tasks": dict.fromkeys(tasks, points)}
