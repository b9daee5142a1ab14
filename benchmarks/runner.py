"""What the runner gains with two workers, and what DVC's own work costs at the full matrix.

The gain: six stages of about ten seconds of arithmetic, by one worker and by two. The cost: a
copy of this project's own stages, every command replaced by one that only writes its outputs;
what a run then takes is overhead. And `dvc repro` when there is nothing to do.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.shared import ROOT, options, seconds
from pipeline.execution.dvc_adapter.recorded import Records
from pipeline.files import write_json
from tests.small_study import copy_project, dvc, environment

WORK = """
import sys, time
target = float(sys.argv[2])
total, started = 0, time.process_time()
while time.process_time() - started < target:  # the same processor time, whatever else runs
    total += sum(range(10_000))
open(sys.argv[1], "w").write(sys.argv[1])
"""
STAGES = """
stages:
  work:
    matrix:
      part: [a, b, c, d, e, f]
    cmd: python work.py ${item.part}.txt SECONDS
    deps: [work.py]
    outs: ["${item.part}.txt"]
"""


WRITER = '''
"""Writes the outputs of the stage that is running, and does nothing else."""
import json, os
from pathlib import Path

stage = os.environ["DVC_STAGE"]
for name in json.loads(Path("outs.json").read_text())[stage]:
    target = Path(name) if Path(name).suffix else Path(name, "file.txt")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(stage)
'''


def run(folder: Path, jobs: int) -> float:
    """Wall seconds of `pipeline run`, from the start of the process to its end."""
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from pipeline.__main__ import main; "
    code += f"sys.exit(main(['run', '--jobs', '{jobs}']))"
    started = time.perf_counter()
    ended = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**environment(), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    print(ended.stdout.strip().splitlines()[-1])
    return time.perf_counter() - started


def gain(folder: Path, work: float) -> dict[str, float]:
    times = {}
    for jobs in (1, 2):
        place = folder / f"jobs-{jobs}"
        place.mkdir()
        (place / "work.py").write_text(WORK)
        (place / "dvc.yaml").write_text(STAGES.replace("SECONDS", str(work)))
        dvc(place, "init", "--no-scm", "--quiet")
        times[jobs] = run(place, jobs)
    return {"one_worker": times[1], "two_workers": times[2], "gain": times[1] / times[2]}


def cost(folder: Path) -> dict[str, float]:
    """The full matrix of params.yaml with commands that do nothing but write."""
    project = folder / "project"
    copy_project(ROOT, project)
    outs = {address: list(stage.outs) for address, stage in Records(project).stages.items()}
    (project / "outs.json").write_text(json.dumps(outs))
    (project / "pipeline" / "__main__.py").write_text(WRITER)
    return {
        "stages": len(outs),
        "run_of_empty_stages": run(project, 2),
        "repro_of_nothing": seconds(lambda: dvc(project, "repro"), time.perf_counter),
    }


def main() -> None:
    parser = options(__doc__, "runner.json")
    parser.add_argument("--seconds", type=float, default=10.0, help="of work a stage")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report = {**gain(Path(folder), arguments.seconds), **cost(Path(folder))}
    print(
        f"two workers are {report['gain']:.2f} times as fast as one; {report['stages']:.0f} stages "
        f"cost {report['run_of_empty_stages']:.0f} s in all when they do nothing; a `dvc repro` of "
        f"nothing takes {report['repro_of_nothing']:.1f} s"
    )
    write_json(arguments.output, {key: round(value, 2) for key, value in report.items()})


if __name__ == "__main__":
    main()
