"""Finished parts of a stage that is not finished: a killed stage goes on from there."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from learned_context.training.storage import save_network
from learned_context.training.trainer import Trained
from pipeline import checked
from pipeline.checked import Checked

C = TypeVar("C", bound=Checked)


class Checkpoint:
    def __init__(self, folder: Path) -> None:
        """The folder's name depends on all that decides the result."""
        self.folder = folder

    def has(self, name: str) -> bool:
        return self._part(name).exists()

    def _part(self, name: str) -> Path:
        return self.folder / f"{name}.json"

    def part(self, name: str, kind: type[C], compute: Callable[[], C]) -> C:
        """A part of the result; computed unless it is here already."""
        path = self._part(name)
        if not path.exists():
            checked.write(path, compute())
        return checked.read(path, kind, "delete it and run the stage again")

    def training(self, name: str, kind: type[C], compute: Callable[[], tuple[C, Trained]]) -> C:
        """Like `part`, for a training whose network is kept as well."""

        def compute_and_save() -> C:
            part, trained = compute()
            # Before the part itself, which says that both are complete.
            save_network(self.network(name), trained)
            return part

        return self.part(name, kind, compute_and_save)

    def network(self, name: str) -> Path:
        return self.folder / f"{name}.safetensors"

    def networks(self) -> list[Path]:
        return sorted(self.folder.glob("*.safetensors"))

    def log(self, name: str) -> Path:
        """Where a search keeps its evaluations."""
        return self.folder / f"{name}.jsonl"

    def clear(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
