"""The record of a search: one line an evaluation, appended at once.

It is the search's checkpoint. A line that a kill cut short is dropped; the evaluation that it
would have held is run again and gives the same line.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from learned_context.errors import UserError


@dataclass(frozen=True)
class Evaluation:
    point: tuple[float, ...]
    """Where LIPO looked, in the box's own coordinates."""
    settings: dict[str, float | int]
    score: float
    restarts: int
    diverged: bool
    seconds: float


class Log:
    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> list[Evaluation]:
        """What has been evaluated; the file is cut back to its last complete line."""
        if not self.path.exists():
            return []
        content = self.path.read_bytes()
        complete = content[: content.rfind(b"\n") + 1]
        if len(complete) < len(content):
            with self.path.open("r+b") as file:
                file.truncate(len(complete))
        return [self._parse(number, line) for number, line in enumerate(complete.splitlines(), 1)]

    def _parse(self, number: int, line: bytes) -> Evaluation:
        try:
            fields = json.loads(line)
            fields["point"] = tuple(fields["point"])
            return Evaluation(**fields)
        except (ValueError, TypeError, KeyError) as error:
            raise UserError(
                f"{self.path}: line {number}: not an evaluation of a search; "
                "delete the file and run the stage again"
            ) from error

    def append(self, evaluation: Evaluation) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            file.write(json.dumps(asdict(evaluation), allow_nan=False) + "\n")
            file.flush()
            os.fsync(file.fileno())
