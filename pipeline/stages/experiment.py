"""What the training stages share: settings turned into plans, rows, seeds and provenance."""

from __future__ import annotations

import hashlib
import platform
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch

from pipeline import settings
from pipeline.errors import UserError
from pipeline.files import Files, code_digest, digest, read_json, replacing, run_info, write_json
from pipeline.models.network import Kind
from pipeline.settings import Budget
from pipeline.stages.progress import ProgressLine
from pipeline.tables import metrics
from pipeline.tables.prepared import Prepared
from pipeline.tables.rows import Rows
from pipeline.training.storage import save_network
from pipeline.training.trainer import Hyperparameters, Plan, Trained, choose_device, train

ENGINE = (
    "pipeline/models",
    "pipeline/stages/experiment.py",
    "pipeline/tables",
    "pipeline/training",
)
"""The code behind every trained network; dvc.yaml lists the same as dependencies."""


class Experiment:
    """One dataset with everything that decides how networks are trained on it."""

    def __init__(self, dataset: str, study: str, code: tuple[str, ...]) -> None:
        self.files = Files()
        self.settings = settings.load(self.files)
        self.settings.dataset(dataset)  # an unknown name is an error here
        self.name = dataset
        self.study = study
        self.code = code_digest(Path(), code)
        self.device = choose_device(self.settings.profile.train.device)
        self.prepared = Prepared.read(self.files.table(dataset), self.files.table_info(dataset))

    @cached_property
    def rows(self) -> Rows:
        return self.prepared.encode(self.prepared.frame, self.settings.params.categories)

    @property
    def tasks(self) -> list[str]:
        return self.prepared.tasks

    def plan(self, rows: int, budgets: tuple[Budget, ...], max_restarts: int) -> Plan:
        params, profile = self.settings.params, self.settings.profile
        budget = next(b for b in budgets if b.rows_below is None or rows < b.rows_below)
        return Plan(
            epochs=budget.epochs,
            batches=budget.batches,
            window_min=profile.train.window_min,
            max_restarts=max_restarts,
            compile=profile.train.compile,
            **params.network.model_dump(),
            **params.schedule.model_dump(),
        )

    def final_plan(self, rows: int) -> Plan:
        train_settings = self.settings.profile.train
        return self.plan(rows, train_settings.budget, train_settings.max_restarts)

    def seed(self, purpose: str, *parts: object) -> int:
        """A seed of its own for every search and training, from the seeds in params.yaml."""
        base = getattr(self.settings.params.seeds, purpose)
        text = "/".join(str(part) for part in (base, purpose, self.name, *parts))
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4])

    def provenance(self, **what: Any) -> dict[str, Any]:
        """The head of every result: what was asked, of which data, by which code."""
        info = self.prepared.info
        return {
            "study": self.study,
            "dataset": self.name,
            **what,
            "profile": self.settings.params.profile,
            "edition": info["edition"],
            "data": info["content_sha256"],
            "code": self.code,
        }

    def fit(
        self,
        rows: np.ndarray,
        kind: Kind,
        hyper: Hyperparameters,
        seed: int,
        progress: ProgressLine,
        label: str,
    ) -> Trained:
        """The final training: on all the given rows, at the profile's full budget."""
        return train(
            self.rows.take(rows),
            len(self.tasks),
            kind,
            hyper,
            self.final_plan(len(rows)),
            seed,
            self.device,
            progress.training(label),
        )

    def outcome(
        self, trained: Trained, seed: int, hyper: Hyperparameters, test: np.ndarray
    ) -> dict[str, Any]:
        """How a training went and how the network does on the test rows."""
        observed = self.rows.take(test)
        predicted = trained.predict(observed)
        errors = metrics.task_rmse(observed.y, predicted, observed.task, len(self.tasks))
        rmse = metrics.rmse(observed.y, predicted)
        return {
            "seed": seed,
            "hyperparameters": asdict(hyper),
            "rmse": rmse,
            "normalised": rmse / self.prepared.info["std"],
            "restarts": trained.restarts,
            "peak_rate": trained.peak_rate,
            "epochs": len(trained.losses),
            "finished": trained.finished,
            "task_rmse": {
                name: metrics.significant(error)
                for name, error in zip(self.tasks, errors, strict=True)
                if np.isfinite(error)
            },
        }

    def checkpoint(self, **inputs: Any) -> Checkpoint:
        """Where this stage keeps finished parts until it ends: keyed by all it depends on."""
        key = digest(
            {
                **self.provenance(),
                "settings": self.settings.model_dump(mode="json"),
                **inputs,
            }
        )
        return Checkpoint(self.files.scratch(self.study, f"{self.name}-{key}"))

    @contextmanager
    def record(self, path: Path) -> Iterator[dict[str, Any]]:
        """Collect a result; write it, and what varies from run to run, when the block ends."""
        started, worked = time.perf_counter(), time.process_time()
        result: dict[str, Any] = {}
        yield result
        write_json(path, result)
        write_json(
            run_info(path),
            {
                "seconds": round(time.perf_counter() - started, 3),
                "cpu_seconds": round(time.process_time() - worked, 3),
                "profile": self.settings.params.profile,
                **machine(self.device),
            },
        )


class Checkpoint:
    """Finished trainings of a stage that is not finished."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, name: str) -> Path:
        return self.folder / name

    def once(
        self, name: str, compute: Callable[[], tuple[dict[str, Any], Trained]]
    ) -> tuple[dict[str, Any], Path]:
        """The report and the model file of one training; computed unless it is here already."""
        model = self.path(f"{name}.safetensors")

        def compute_and_save() -> dict[str, Any]:
            report, trained = compute()
            save_network(model, trained)  # before the report, which says that it is complete
            return report

        return self.keep(name, compute_and_save), model

    def keep(self, name: str, compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """The report of one part of the stage; computed unless it is here already."""
        path = self.path(f"{name}.json")
        if not path.exists():
            write_json(path, compute())
        report: dict[str, Any] = read_json(path)
        return report

    def deliver(
        self,
        name: str,
        compute: Callable[[], tuple[dict[str, Any], Trained]],
        folder: Path,
    ) -> dict[str, Any]:
        """Like `once`, with the model copied into the folder that is the stage's output."""
        report, model = self.once(name, compute)
        with replacing(folder / f"{name}.safetensors") as temporary:
            shutil.copyfile(model, temporary)
        return report

    def clear(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def chosen(path: Path, *place: str) -> Hyperparameters:
    """The hyperparameters that a search chose, from its result at this place of the file."""
    try:
        return Hyperparameters(**read_result(path, *place, "best"))
    except TypeError as error:
        raise UserError(_damaged(path, "best")) from error


def read_result(path: Path, *place: str) -> Any:
    """What stands at this place of another stage's result."""
    content = read_json(path)
    for key in place:
        if not isinstance(content, dict) or key not in content:
            raise UserError(_damaged(path, key))
        content = content[key]
    return content


def _damaged(path: Path, key: str) -> str:
    return (
        f"{path}: no valid entry {key!r}; the file is damaged, restore it with `git checkout` or "
        "run its stage again"
    )


def machine(device: torch.device) -> dict[str, Any]:
    """Versions, device and machine kind: what may explain a difference in the last bits."""
    names = ("dlib-bin", "numpy", "pandas", "pyarrow", "statsmodels", "torch")
    return {
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
        "cpu": torch.backends.cpu.get_cpu_capability(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": {name: version(name) for name in names},
    }


def curve(trained: Trained, points: int = 100) -> dict[str, list[float]]:
    """The loss and the rate over the epochs, thinned to what a figure can show."""
    last = len(trained.losses) - 1
    epochs = sorted({round(step) for step in np.linspace(0, last, min(points, last + 1))})
    return {
        "epoch": [epoch + 1 for epoch in epochs],
        "loss": [metrics.significant(trained.losses[epoch], 5) for epoch in epochs],
        "rate": [metrics.significant(trained.rates[epoch], 5) for epoch in epochs],
    }
