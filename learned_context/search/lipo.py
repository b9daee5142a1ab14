"""The search for hyperparameters by LIPO, resumable.

The solver's state cannot be saved, but it depends only on the seed and on the values it was
given: replaying the log in order brings it back exactly.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from learned_context.errors import UserError
from learned_context.search.log import Evaluation, Log
from learned_context.search.solver import Maximiser
from learned_context.search.space import Box
from learned_context.training.trainer import Hyperparameters


@dataclass(frozen=True)
class Trial:
    """What one evaluation found; the lower the score the better, and it must be finite."""

    score: float
    restarts: int = 0
    diverged: bool = False


def search(
    box: Box,
    objective: Callable[[Hyperparameters], Trial],
    evaluations: int,
    seed: int,
    log: Log,
    report: Callable[[int, Evaluation], None] | None = None,
) -> list[Evaluation]:
    """Evaluate `objective` at `evaluations` points of the box; the log's points are not rerun."""
    lower, upper = zip(*(dimension.bounds() for dimension in box.free), strict=True)
    solver = Maximiser(lower, upper, seed, [dimension.integer for dimension in box.free])
    done = log.read()[:evaluations]
    for index in range(evaluations):
        point, answer = solver.ask()
        if index < len(done):
            if done[index].point != point:
                raise UserError(
                    f"{log.path}: line {index + 1}: the point is not the one this search asks "
                    "for; delete the file and run the stage again"
                )
        else:
            done.append(evaluate(box.hyperparameters(point), point, objective))
            log.append(done[index])
            if report:
                report(index + 1, done[index])
        answer(-done[index].score)
    return done


def evaluate(
    settings: Hyperparameters,
    point: tuple[float, ...],
    objective: Callable[[Hyperparameters], Trial],
) -> Evaluation:
    """One call of the objective, as the log records it."""
    started = time.perf_counter()
    trial = objective(settings)
    return Evaluation(
        point=point,
        settings=asdict(settings),
        score=trial.score,
        restarts=trial.restarts,
        diverged=trial.diverged,
        seconds=round(time.perf_counter() - started, 3),
    )


def best(evaluations: Sequence[Evaluation]) -> Evaluation:
    """The first of the evaluations with the lowest score."""
    return min(evaluations, key=lambda evaluation: evaluation.score)
