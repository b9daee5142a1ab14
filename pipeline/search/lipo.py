"""Global optimisation by LIPO (dlib), seeded and resumable.

dlib's `find_min_global` spends its own effort by the clock and so is not reproducible;
`global_function_search` with a seed is. Its state cannot be saved, but it depends only on the
seed and on the values it was given: replaying the log in order brings it back exactly.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import dlib

from pipeline.errors import UserError
from pipeline.search.log import Evaluation, Log
from pipeline.search.space import Box
from pipeline.training.trainer import Hyperparameters


@dataclass(frozen=True)
class Trial:
    """What one evaluation found; the lower the score the better, and it must be finite."""

    score: float
    restarts: int = 0
    diverged: bool = False


class Maximiser:
    """dlib's solver with the points as tuples."""

    def __init__(
        self,
        lower: Sequence[float],
        upper: Sequence[float],
        seed: int,
        integer: Sequence[bool] | None = None,
    ) -> None:
        spec = dlib.function_spec(list(lower), list(upper), list(integer or [False] * len(lower)))
        self._search = dlib.global_function_search(spec)
        self._search.set_seed(seed)

    def ask(self) -> tuple[tuple[float, ...], Callable[[float], None]]:
        request = self._search.get_next_x()
        return tuple(float(coordinate) for coordinate in request.x), request.set


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
            done.append(_evaluate(box.hyperparameters(point), point, objective))
            log.append(done[index])
            if report:
                report(index + 1, done[index])
        answer(-done[index].score)
    return done


def _evaluate(
    settings: Hyperparameters,
    point: tuple[float, ...],
    objective: Callable[[Hyperparameters], Trial],
) -> Evaluation:
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
