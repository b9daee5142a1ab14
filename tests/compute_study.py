"""Every stage of the project in this folder, in one process: `python -m tests.compute_study`.

The same commands as `dvc repro` runs, without an interpreter and a notebook kernel for each.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pipeline.__main__ import main
from pipeline.execution.dvc_adapter.recorded import RecordedStage, Records
from tests.reporting.conftest import render


def reads(stage: RecordedStage, other: RecordedStage) -> bool:
    """Whether a stage depends on an output of another, or on a folder around it."""
    return any(Path(out).is_relative_to(dep) for dep in stage.deps for out in other.outs)


waiting = list(Records(Path().resolve()).stages.values())
while waiting:
    stage = next(one for one in waiting if not any(reads(one, other) for other in waiting))
    waiting.remove(stage)
    verb = stage.arguments[0]
    # `check` also reads the sum of all times, which is written with the README.
    commands = [["report", "--readme"]] if verb == "check" else []
    for words in [*commands, stage.arguments] if verb != "report" else []:
        if main(words):
            sys.exit(f"{' '.join(words)} failed")
render(Path(), *sorted(path.stem for path in Path("reports/notebooks").glob("*.ipynb")))
