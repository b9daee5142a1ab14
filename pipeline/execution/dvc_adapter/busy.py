"""The files of running stages, entered in DVC's own table of busy files.

DVC's lock is free while a command runs. The entries keep `dvc repro` and `dvc checkout` away from
what the command reads and writes; DVC refuses them and names the run. They are entries of a reader,
so that `dvc status` works meanwhile. DVC drops the entries of a process that was killed.
"""

from __future__ import annotations

from contextlib import ExitStack, suppress
from typing import Any

from dvc.exceptions import DvcException
from dvc.rwlock import rwlock


class BusyFiles:
    def __init__(self, repo: Any) -> None:
        self.repo = repo
        self._held: dict[str, ExitStack] = {}

    def hold(self, address: str, stage: Any) -> None:
        paths = [item.fs_path for item in (*stage.deps, *stage.outs)]
        # A name of its own for every stage: two that read one file leave it one after the other.
        name = f"python -m pipeline run, stage {address}"
        hardlink = self.repo.config["core"].get("hardlink_lock", False)
        held = ExitStack()
        held.enter_context(rwlock(self.repo.tmp_dir, self.repo.fs, name, paths, [], hardlink))
        self._held[address] = held

    def release(self, address: str) -> None:
        held = self._held.pop(address, None)
        # DVC tells people to delete the table when it is in their way: then nothing is held.
        with suppress(AssertionError, DvcException):
            if held:
                held.close()

    def release_all(self) -> None:
        for address in list(self._held):
            self.release(address)
