"""List scheduling of a graph of steps: which goes first, and when the last one ends."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Mapping

Needs = Mapping[str, Collection[str]]


def remaining_path(needs: Needs, seconds: Mapping[str, float]) -> dict[str, float]:
    """For every step the seconds of the longest chain that starts with it.

    `needs` must list a step after those that it needs.
    """
    longest = {step: seconds[step] for step in needs}
    for step in reversed(list(needs)):
        for need in needs[step]:
            if need in longest:
                longest[need] = max(longest[need], seconds[need] + longest[step])
    return longest


def wall_time(
    needs: Needs,
    seconds: Mapping[str, float],
    workers: int,
    running: Mapping[str, float] | None = None,
) -> float:
    """Seconds until all steps are done with this number of workers, the longest chain first.

    `running` holds the seconds left of steps that have a worker already; a need that is neither
    in `needs` nor in `running` counts as done.
    """
    priority = remaining_path(needs, seconds)
    under_way = [(left, step) for step, left in (running or {}).items()]
    heapq.heapify(under_way)
    unmet = {
        step: {need for need in wanted if need in needs or need in (running or {})}
        for step, wanted in needs.items()
    }
    waiting_for: dict[str, list[str]] = {}
    for step, wanted in unmet.items():
        for need in wanted:
            waiting_for.setdefault(need, []).append(step)
    ready = [(-priority[step], step) for step, wanted in unmet.items() if not wanted]
    heapq.heapify(ready)
    now = 0.0
    while ready or under_way:
        while ready and len(under_way) < workers:
            _, step = heapq.heappop(ready)
            heapq.heappush(under_way, (now + seconds[step], step))
        now, finished = heapq.heappop(under_way)
        for step in waiting_for.get(finished, []):
            unmet[step].discard(finished)
            if not unmet[step]:
                heapq.heappush(ready, (-priority[step], step))
    return now
