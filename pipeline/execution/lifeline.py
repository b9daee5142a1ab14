"""One run at a time, and no command that outlives its run.

The running client holds a lock on `scratch/run.lock`, which the system releases however the
client ends. Workers, on whatever machine shares the folder, watch it and stop their commands
when the run that they belong to is over.
"""

from __future__ import annotations

import fcntl
import os
import time
import uuid
from pathlib import Path
from typing import IO, Any

from learned_context.errors import UserError

# A worker that looks whether the run is alive holds the lock for an instant.
PATIENCE = 2.0


def locks(file: IO[Any], kind: int = fcntl.LOCK_EX) -> bool:
    """Lock an open file, unless somebody else has; whether it is locked now."""
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def locks_within(file: IO[Any], seconds: float) -> bool:
    """Lock an open file as soon as it is free; whether it was in this time."""
    give_up = time.monotonic() + seconds
    while not (locked := locks(file)) and time.monotonic() < give_up:
        time.sleep(0.05)
    return locked


class RunLock:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.run_id = uuid.uuid4().hex
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("a+", encoding="utf-8")
        except OSError as error:
            raise UserError(
                f"{path}: cannot be opened ({error.strerror}); the runner keeps its logs in that "
                "folder"
            ) from error
        if not locks_within(self._file, PATIENCE):
            self._file.seek(0)
            owner = (self._file.read().split() or ["", "unknown"])[-1]
            self._file.close()
            raise UserError(
                f"{path}: another run is active in this repository (process {owner}); wait until "
                "it ends or stop it with Ctrl-C"
            )
        self._write(f"{self.run_id} {os.getpid()}\n")

    def _write(self, text: str) -> None:
        self._file.seek(0)
        self._file.truncate()
        self._file.write(text)
        self._file.flush()

    def stop_commands(self) -> None:
        """Tell the workers that the run is over although the client still lives."""
        self._write("")

    def release(self) -> None:
        self._write("")
        self._file.close()


def is_alive(path: Path, run_id: str) -> bool:
    """Whether the run with this id still goes on."""
    try:
        with path.open(encoding="utf-8") as file:
            if file.read().split()[:1] != [run_id]:
                return False
            return not locks(file, fcntl.LOCK_SH)  # if nobody holds it, the client is dead
    except FileNotFoundError:
        return False
