"""Runs a plan on its workers: every stage as soon as its inputs are there, longest first."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any

from pipeline.execution.cluster import slots
from pipeline.execution.command import Job, execute
from pipeline.execution.display import Display, Running, Snapshot
from pipeline.execution.dvc_adapter.recording import Recorder
from pipeline.execution.planning import PlannedStage, RunPlan, StageOutcome
from pipeline.execution.schedule import remaining_path, wall_time
from pipeline.execution.signals import Interrupted, signals_to

POLL_SECONDS = 0.5
STOP_SECONDS = 10.0
# Dask moves a stage to another worker when its worker dies; this is for lost connections.
RETRIES = 3


@dataclass
class PlanRun:
    plan: RunPlan
    recorder: Recorder
    client: Any
    display: Display
    keep_going: bool
    outcomes: dict[str, StageOutcome] = field(default_factory=dict)
    running: dict[str, tuple[PlannedStage, float]] = field(default_factory=dict)
    futures: dict[str, Any] = field(default_factory=dict)
    events: SimpleQueue[str | int] = field(default_factory=SimpleQueue)

    def __post_init__(self) -> None:
        self.needs = {step.address: step.needs for step in self.plan.steps.values()}
        expected = {step.address: self._expected(step) for step in self.plan.steps.values()}
        self.priority = remaining_path(self.needs, expected)
        self.waiting = dict(self.plan.steps)

    def execute(self) -> None:
        with signals_to(self.events):
            self._start_what_can()
            while self.running:
                self.display.refresh(self.snapshot)
                ended = self._next_events()
                self._start_what_can()  # before the recording, so that no worker waits for it
                self._record(ended)
                self._start_what_can()
        for step in self.waiting.values():
            self.outcomes[step.address] = StageOutcome("skipped")

    def _next_events(self) -> list[str]:
        """The stages whose commands have ended since the last look."""
        ended: list[str] = []
        try:
            event = self.events.get(timeout=POLL_SECONDS)
            while True:
                if isinstance(event, int):
                    raise Interrupted(event)
                ended.append(event)
                event = self.events.get_nowait()
        except Empty:
            return ended

    def _start_what_can(self) -> None:
        free = slots(self.client) - len(self.running)
        while free > 0 and not self._stopping:
            step = self._most_urgent()
            if step is None:
                return
            del self.waiting[step.address]
            started = self.recorder.start(step)
            if isinstance(started, Job):
                self._submit(step, started)
                free -= 1
            else:
                self._finished(step, started)

    @property
    def _stopping(self) -> bool:
        return not self.keep_going and any(o.state == "failed" for o in self.outcomes.values())

    def _most_urgent(self) -> PlannedStage | None:
        done = {name for name, o in self.outcomes.items() if o.state not in ("failed", "skipped")}
        ready = [step for step in self.waiting.values() if step.needs <= done]
        return max(ready, key=lambda step: self.priority[step.address], default=None)

    def _submit(self, step: PlannedStage, job: Job) -> None:
        future = self.client.submit(
            execute,
            job,
            key=f"{step.address}-{job.run_id}",
            priority=self.priority[step.address],
            retries=RETRIES,
            pure=False,
        )
        self.running[step.address] = (step, time.monotonic())
        self.futures[step.address] = future
        future.add_done_callback(lambda _: self.events.put(step.address))

    def _record(self, ended: list[str]) -> None:
        succeeded: list[tuple[PlannedStage, float]] = []
        outcomes: list[tuple[PlannedStage, StageOutcome]] = []
        for name in ended:
            step, _ = self.running.pop(name)
            try:
                code, seconds = self.futures.pop(name).result()
                problem = f"its command ended with code {code}" if code else ""
            except Exception as error:
                seconds, problem = 0.0, _worker_trouble(error)
            if problem:
                self.recorder.busy.release(name)
                outcomes.append((step, StageOutcome("failed", seconds, problem)))
            else:
                succeeded.append((step, seconds))
        if succeeded:
            recorded = self.recorder.finish(succeeded)
            outcomes += [(step, recorded[step.address]) for step, _ in succeeded]
        for step, outcome in outcomes:
            self.recorder.progress_file(step).unlink(missing_ok=True)
            if outcome.state == "ran":
                self.plan.estimates.learn(step.address, outcome.seconds)
            self._finished(step, outcome)

    def _finished(self, step: PlannedStage, outcome: StageOutcome) -> None:
        self.outcomes[step.address] = outcome
        self.display.finished(step.address, outcome, self.snapshot())

    def stop(self) -> None:
        """End the running commands and record nothing of them."""
        self.recorder.run_lock.stop_commands()
        give_up = time.monotonic() + STOP_SECONDS
        while time.monotonic() < give_up:
            if all(future.done() for future in self.futures.values()):
                break
            time.sleep(0.05)
        self.recorder.busy.release_all()

    def snapshot(self) -> Snapshot:
        now = time.monotonic()
        running = tuple(
            Running(name, now - since, self._expected(step), _progress(self.recorder, step))
            for name, (step, since) in self.running.items()
        )
        left = {name: step.needs for name, step in self.waiting.items()}
        seconds = {name: self._expected(step) for name, step in self.waiting.items()}
        under_way = {one.address: max(one.expected - one.elapsed, 0.0) for one in running}
        failed = sum(outcome.state == "failed" for outcome in self.outcomes.values())
        seconds_left = wall_time(left, seconds, self._workers, under_way)
        return Snapshot(len(self.outcomes), failed, len(self.needs), running, seconds_left)

    @property
    def _workers(self) -> int:
        return max(1, len(self.running), slots(self.client))

    def _expected(self, step: PlannedStage) -> float:
        return 0.0 if step.only_if_changed else self.plan.estimates.seconds(step.address)[0]


def _progress(recorder: Recorder, step: PlannedStage) -> str:
    """The line that a running stage has left about its progress, if any."""
    try:
        text = recorder.progress_file(step).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return text.strip().splitlines()[-1] if text.strip() else ""


def _worker_trouble(error: Exception) -> str:
    if isinstance(error, ImportError):
        return f"a worker cannot load this project ({error}); install it there as well"
    return f"no worker could run it ({type(error).__name__}: {error})"
