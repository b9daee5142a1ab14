"""A whole run from the plan to the closing report."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from pipeline.errors import UserError
from pipeline.execution.cluster import connect
from pipeline.execution.display import Display, duration, make_display
from pipeline.execution.estimates import Expected, no_expectation
from pipeline.execution.gpus import visible_gpus
from pipeline.execution.lifeline import RunLock
from pipeline.execution.planning import Plan, make_plan
from pipeline.execution.recording import Recorder
from pipeline.execution.repository import drop_damaged_rwlock, locked, open_repository
from pipeline.execution.runner import Run
from pipeline.execution.signals import Interrupted

INTERRUPTED = "Interrupted: what had ended is recorded; the next run goes on from there."


@dataclass(frozen=True)
class Options:
    targets: Sequence[str] = ()
    jobs: int = 1
    keep_going: bool = False
    missing: bool = False
    scheduler: str | None = None
    expected: Expected = no_expectation
    profile: str | None = None


def run_stages(root: Path, options: Options, console: Console) -> int:
    """Bring the repository up to date; return the exit code."""
    from dvc.exceptions import DvcException

    with open_repository(root) as repo:
        run_lock = RunLock(Path(repo.root_dir, "scratch", "run.lock"))
        try:
            return _run(repo, run_lock, options, make_display(console))
        except KeyboardInterrupt:
            console.print(INTERRUPTED)
            return 130
        except DvcException as error:
            raise UserError(
                f"DVC: {' '.join(str(error).split())}; mend it, then run again"
            ) from error
        finally:
            run_lock.release()


def _run(repo: Any, run_lock: RunLock, options: Options, display: Display) -> int:
    started = time.monotonic()
    with locked(repo, display.say):
        drop_damaged_rwlock(repo)
        plan = make_plan(repo, options.targets, options.missing, options.expected, options.profile)
    gpus = () if options.scheduler else visible_gpus()
    recorder = Recorder(repo, plan, run_lock, gpus, display.say)
    recorder.seconds = time.monotonic() - started
    if plan.restore:
        recorder.restore(plan.restore)
        display.say(f"{len(plan.restore)} missing outputs came back from DVC's cache.")
    if not plan.steps:
        display.say(f"Nothing to run: {plan.fresh} stages are up to date.")
        return 0
    _announce(plan, options, display)
    with connect(options.scheduler, options.jobs, run_lock.path.parent) as client:
        run = Run(plan, recorder, client, display, options.keep_going)
        try:
            with display:
                run.execute()
        except Interrupted as error:
            run.stop()
            display.say(INTERRUPTED)
            return error.exit_code
        except BaseException:
            run.stop()
            raise
    return _report(run, display, time.monotonic() - started)


def _announce(plan: Plan, options: Options, display: Display) -> None:
    where = (
        f"the workers of {options.scheduler}" if options.scheduler else f"{options.jobs} workers"
    )
    about = "" if options.scheduler else f", about {duration(plan.wall_seconds(options.jobs))}"
    display.say(f"{len(plan.work)} stages to run, {plan.fresh} up to date, on {where}{about}.")


def _report(run: Run, display: Display, wall: float) -> int:
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


def _last_lines(log: Path, count: int = 10) -> list[str]:
    """The end of a failed stage's log."""
    try:
        return log.read_text(encoding="utf-8", errors="replace").splitlines()[-count:]
    except OSError:
        return []
