"""One network on the paper's exact budget, beside the workstation's: the learned-context network
of sine_and_line, with the settings that the workstation's search chose.

The stage itself runs, in a scratch copy whose params.yaml says `profile: paper`.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pipeline.files import Files, read_json, run_info, write_json
from pipeline.reporting.results import Results

DATASET, MODEL = "sine_and_line", "lc"


def train_on_the_papers_budget(files: Files, folder: Path) -> Files:
    copy = Files(folder)
    for name in ("pipeline", "profiles"):
        shutil.copytree(files.root / name, folder / name)
    for path in (
        files.params,
        files.sources,
        files.table(DATASET),
        files.table_info(DATASET),
        files.result("tune", DATASET, MODEL),
    ):
        target = folder / path.relative_to(files.root)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target)
    params = re.sub(r"(?m)^profile: \w+", "profile: paper", copy.params.read_text())
    copy.params.write_text(params)
    command = [sys.executable, "-m", "pipeline", "train", DATASET, MODEL]
    subprocess.run(command, cwd=folder, check=True)
    return copy


def summary(files: Files) -> dict[str, Any]:
    path = files.result("train", DATASET, MODEL)
    result, run = read_json(path), read_json(run_info(path))
    kept = ("profile", "rmse", "epochs", "finished", "restarts", "peak_rate")
    return {
        **{key: result[key] for key in kept},
        "epochs_allowed": result["plan"]["epochs"],
        "batches": result["plan"]["batches"],
        "cpu_seconds": run["cpu_seconds"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--project", type=Path, default=Path(), help="where tables and results are")
    parser.add_argument("--output", type=Path, default=Path("results/benchmarks/paper_budget.json"))
    arguments = parser.parse_args()
    files = Files(arguments.project.resolve())
    with tempfile.TemporaryDirectory(prefix="paper-budget-") as folder:
        on_papers = summary(train_on_the_papers_budget(files, Path(folder)))
    ours = summary(files)
    printed = Results(files).paper.value("base", DATASET, MODEL)
    for one in (ours, on_papers):
        print(
            f"{one['profile']}: error {one['rmse']:.4f} after {one['epochs']} of "
            f"{one['epochs_allowed']} epochs of {one['batches']} batches, "
            f"{one['cpu_seconds']:.0f} s"
        )
    ratio = on_papers["rmse"] / ours["rmse"]
    print(f"the paper prints {printed}; the paper's budget makes {ratio:.3f} of our error")
    report = {"dataset": DATASET, "model": MODEL, "paper_prints": printed}
    write_json(arguments.output, report | {"ratio": ratio, "runs": [ours, on_papers]})


if __name__ == "__main__":
    main()
