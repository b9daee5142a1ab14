"""The plan: the stale stages, everything below them, and what they need that is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import networkx

from pipeline.execution.addresses import resolve_targets
from pipeline.execution.dvc_adapter.repository import address, relative, stage_graph
from pipeline.execution.dvc_adapter.status import missing_outputs, reads, restorable, why_stale
from pipeline.execution.estimates import Estimates, ProfileCosts
from pipeline.execution.schedule import wall_time


@dataclass
class PlannedStage:
    """One stage of the plan."""

    address: str
    stage: Any
    role: str  # "stale", "downstream", "needed" or "check"
    reason: str
    seconds: float
    basis: str
    upstream: list[Any] = field(default_factory=list)
    needs: set[str] = field(default_factory=set)

    @property
    def only_if_changed(self) -> bool:
        """A step that is expected to turn out fresh: it is below one that is only rebuilt."""
        return self.role == "check"


@dataclass(frozen=True)
class StageOutcome:
    """How a stage ended: "ran", "restored", "unchanged", "failed" or "skipped"."""

    state: str
    seconds: float = 0.0
    message: str = ""


@dataclass
class RunPlan:
    steps: dict[str, PlannedStage]  # in an order that `dvc repro` could take
    restore: list[Any]  # missing outputs that DVC's cache holds
    fresh: int  # stages that stay as they are
    order: dict[str, list[str]]  # for every dvc.yaml its stages as `dvc repro` would run them
    estimates: Estimates

    @property
    def work(self) -> list[PlannedStage]:
        return [step for step in self.steps.values() if not step.only_if_changed]

    @property
    def total_seconds(self) -> float:
        return sum(step.seconds for step in self.work)

    def wall_seconds(self, workers: int) -> float:
        needs = {step.address: step.needs for step in self.work}
        return wall_time(needs, {step.address: step.seconds for step in self.work}, workers)


def make_plan(
    repo: Any, targets: Sequence[str], rebuild_missing: bool, costs: ProfileCosts
) -> RunPlan:
    """Plan the targets and all that they need, or every stage. Call under DVC's lock."""
    graph = stage_graph(repo)
    in_order = list(networkx.dfs_postorder_nodes(graph))
    everything = {address(stage): stage for stage in in_order}
    estimates = Estimates(in_order, costs)
    order: dict[str, list[str]] = {}
    for stage in in_order:
        if getattr(stage, "name", None):
            order.setdefault(stage.path, []).append(stage.name)

    scope = set(in_order)
    if targets:
        chosen = [everything[name] for name in resolve_targets(list(everything), targets)]
        scope = set(chosen).union(*(networkx.descendants(graph, stage) for stage in chosen))
    in_order = [stage for stage in in_order if stage in scope]

    roles = _Roles(in_order, lambda stage: list(graph.successors(stage)))
    roles.mark_stale(rebuild_missing)
    roles.mark_needed()
    roles.mark_checks()

    steps: dict[str, PlannedStage] = {}
    for stage in in_order:
        if stage not in roles.role:
            continue
        role, reason = roles.role[stage]
        seconds, basis = estimates.seconds(address(stage))
        upstream = list(graph.successors(stage))
        needs = {address(one) for one in upstream if one in roles.role}
        steps[address(stage)] = PlannedStage(
            address(stage), stage, role, reason, seconds, basis, upstream, needs
        )
    restore = [
        out
        for stage in in_order
        if roles.role.get(stage, ("",))[0] not in ("stale", "needed")
        for out in missing_outputs(stage)
        if restorable(out)
    ]
    return RunPlan(steps, restore, len(in_order) - len(steps), order, estimates)


class _Roles:
    """Why every stage of the plan is in it. The stages come upstream first."""

    def __init__(self, stages: list[Any], upstream: Callable[[Any], list[Any]]) -> None:
        self.stages = stages
        self.upstream = upstream
        self.role: dict[Any, tuple[str, str]] = {}

    def mark_stale(self, rebuild_missing: bool) -> None:
        for stage in self.stages:
            reason = why_stale(stage, self.upstream(stage))
            if not reason and rebuild_missing:
                lost = [out for out in missing_outputs(stage) if not restorable(out)]
                reason = f"its output {relative(lost[0])} is missing" if lost else None
            if reason:
                self.role[stage] = ("stale", reason)
            else:
                self._inherit(stage, ("stale", "downstream"), "downstream")

    def mark_needed(self) -> None:
        # Downstream first, so that what a needed stage itself lacks is found as well.
        for stage in reversed(self.stages):
            if stage not in self.role:
                continue
            for source in self.upstream(stage):
                if source in self.role:
                    continue
                lost = [
                    out
                    for out in missing_outputs(source)
                    if reads(stage, out) and not restorable(out)
                ]
                if lost:
                    reason = f"needed, its output {relative(lost[0])} is missing"
                    self.role[source] = ("needed", reason)

    def mark_checks(self) -> None:
        # A rebuilt output should be the same to the byte; if it is not, what is below must run.
        for stage in self.stages:
            if stage not in self.role:
                self._inherit(stage, ("needed", "check"), "check")

    def _inherit(self, stage: Any, roles: Iterable[str], own: str) -> None:
        for source in self.upstream(stage):
            if self.role.get(source, ("",))[0] in roles:
                self.role[stage] = (own, f"below {address(source)}")
                return
