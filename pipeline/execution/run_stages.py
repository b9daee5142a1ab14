"""A whole run from the plan to the closing report."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from pipeline.execution.cluster import check_address, connect
from pipeline.execution.display import Display, duration
from pipeline.execution.dvc_adapter.recording import Recorder
from pipeline.execution.dvc_adapter.repository import errors_for_people, locked, open_repository
from pipeline.execution.estimates import ProfileCosts
from pipeline.execution.gpus import GpuRules, limited_workers, usable_gpus
from pipeline.execution.lifeline import RunLock
from pipeline.execution.planning import RunPlan, make_plan
from pipeline.execution.runner import PlanRun
from pipeline.execution.signals import Interrupted

INTERRUPTED = "Interrupted: what had ended is recorded; the next run goes on from there."
LINES_SHOWN = 10
"""Of a failed stage's log."""


@dataclass(frozen=True)
class RunOptions:
    costs: ProfileCosts
    targets: Sequence[str] = ()
    jobs: int = 1
    keep_going: bool = False
    missing: bool = False
    scheduler: str | None = None
    processes_a_gpu: int = 1


def run_stages(root: Path, options: RunOptions, console: Console) -> int:
    """Bring the repository up to date; return the exit code."""
    if options.scheduler is not None:  # even if nothing is stale
        check_address(options.scheduler)
    with open_repository(root) as repo, errors_for_people():
        run_lock = RunLock(Path(repo.root_dir, "scratch", "run.lock"))
        try:
            return _run(repo, run_lock, options, Display(console))
        except KeyboardInterrupt:
            console.print(INTERRUPTED)
            return 130
        finally:
            run_lock.release()


def _run(repo: Any, run_lock: RunLock, options: RunOptions, display: Display) -> int:
    started = time.monotonic()
    with locked(repo, display.say):
        plan = make_plan(repo, options.targets, options.missing, options.costs)
    if not options.scheduler:
        found = usable_gpus(options.costs.device)
        jobs = limited_workers(options.jobs, found, options.processes_a_gpu)
        if jobs < options.jobs:
            display.say(f"{jobs} workers: --processes-a-gpu {options.processes_a_gpu}.")
            options = replace(options, jobs=jobs)
    places = str(run_lock.path.parent / "gpus")
    rules = GpuRules(options.costs.device, options.processes_a_gpu, places)
    recorder = Recorder(repo, plan, run_lock, rules, display.say)
    recorder.seconds = time.monotonic() - started
    if plan.restore:
        recorder.restore(plan.restore)
        display.say(f"{len(plan.restore)} missing outputs came back from DVC's cache.")
    if not plan.steps:
        display.say(f"Nothing to run: {plan.fresh} stages are up to date.")
        return 0
    _announce(plan, options, display)
    with connect(options.scheduler, options.jobs) as client:
        run = PlanRun(plan, recorder, client, display, options.keep_going)
        try:
            with display.live():
                run.execute()
        except Interrupted as error:
            run.stop()
            display.say(INTERRUPTED)
            return error.exit_code
        except BaseException:
            run.stop()
            raise
    return _report(run, display, time.monotonic() - started)


def _announce(plan: RunPlan, options: RunOptions, display: Display) -> None:
    where = (
        f"the workers of {options.scheduler}" if options.scheduler else f"{options.jobs} workers"
    )
    about = "" if options.scheduler else f", about {duration(plan.wall_seconds(options.jobs))}"
    display.say(f"{len(plan.work)} stages to run, {plan.fresh} up to date, on {where}{about}.")


def _report(run: PlanRun, display: Display, wall: float) -> int:
    states = [outcome.state for outcome in run.outcomes.values()]
    seconds = sum(outcome.seconds for outcome in run.outcomes.values())
    counts = [f"{states.count('ran')} stages run"]
    for state in ("restored", "unchanged", "skipped", "failed"):
        if state in states:
            counts.append(f"{states.count(state)} {state}")
    display.say(
        f"{', '.join(counts)} in {duration(wall)}; the stages took {duration(seconds)} together "
        f"(speed-up {seconds / wall:.2f}); DVC's own work took {duration(run.recorder.seconds)}."
    )
    for name, outcome in run.outcomes.items():
        if outcome.state == "failed":
            log = run.recorder.log_file(run.plan.steps[name])
            shown = log.relative_to(run.recorder.repo.root_dir)
            display.say(f"\nFailed: {name}: {outcome.message}; see {shown}")
            for line in _last_lines(log):
                display.say(f"    {line}")
    return 1 if "failed" in states else 0


def _last_lines(log: Path) -> list[str]:
    """The end of a failed stage's log."""
    try:
        return log.read_text(encoding="utf-8", errors="replace").splitlines()[-LINES_SHOWN:]
    except OSError:
        return []
