"""LIPO for held-out tasks with fewer of dlib's random samples: how much faster, and no worse?

Frequency data, a third of the tasks held out, 2, 4 and 8 task parameters, a tenth and all of the
rows. Both ways share the network, tasks, seeds and number of evaluations. Differences of the
objective (Equation 21) above zero say that fewer samples found a worse point.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from benchmarks.holdout import DIMENSIONS, hold_out
from benchmarks.shared import TRAIN_ROWS, of_tasks, options, papers_frequency
from learned_context.new_tasks import lipo
from learned_context.new_tasks.objective import Problem
from pipeline.files import write_json

DLIBS_OWN = 5000


def timed(problem: Problem, base: Any, evaluations: int, samples: int) -> tuple[float, np.ndarray]:
    started = time.process_time()
    found = lipo.fit(problem, base, evaluations, seed=0, samples=samples)
    return time.process_time() - started, found.objective


def main() -> None:
    parser = options(__doc__, "lipo_samples.json")
    parser.add_argument("--tasks", type=int, default=40)
    parser.add_argument("--evaluations", type=int, default=200)
    arguments = parser.parse_args()
    train_rows, test_rows = papers_frequency(np.random.default_rng(0))
    cells = []
    for dimension in DIMENSIONS:
        held = hold_out(0, dimension, arguments.tasks, train_rows, test_rows)
        for share in (0.1, 1.0):
            rows = of_tasks(train_rows, held.tasks, first=round(share * TRAIN_ROWS))
            problem = held.problem(rows)
            many, theirs = timed(problem, held.base, arguments.evaluations, DLIBS_OWN)
            few, ours = timed(problem, held.base, arguments.evaluations, lipo.SAMPLES)
            difference = ours - theirs
            cells.append(
                {
                    "task_dim": dimension,
                    "share": share,
                    "times_as_fast": round(many / few, 2),
                    "median_difference": round(float(np.median(difference)), 3),
                    "median_objective": round(float(np.median(theirs)), 3),
                    "worse": int((difference > 0.1).sum()),
                    "better": int((difference < -0.1).sum()),
                }
            )
            print(cells[-1], flush=True)
    write_json(
        arguments.output,
        {
            "tasks": arguments.tasks,
            "evaluations": arguments.evaluations,
            "samples": [DLIBS_OWN, lipo.SAMPLES],
            "cells": cells,
        },
    )


if __name__ == "__main__":
    main()
