"""Ten networks trained side by side against ten trained one after the other, on one CPU thread.

The sizes are those of `benchmarks/training.py` and three smaller ones; for each, the two ways
alternate and the ratio of their processor times is a median. Above 1, side by side is faster.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch

from benchmarks.shared import options, seconds
from benchmarks.training import DECAY, RATE, SIZES, TASK_DIM, Size, table
from learned_context.training.plan import Hyperparameters, Options, Plan
from learned_context.training.trainer import train, train_members
from pipeline.files import write_json

MEMBERS = 10
SMALL = (
    Size("578x2, 50 tasks, width 64, batch 145", 578, 2, 50, 64, 145, 30),
    Size("578x2, 50 tasks, width 32, batch 64", 578, 2, 50, 32, 64, 15),
    Size("1337x2, 79 tasks, width 64, batch 512", 1337, 2, 79, 64, 512, 30),
)
MEASURED = tuple(size for size in SIZES if size.rows < 100_000)


def compare(size: Size, options: Options, repeats: int) -> dict[str, object]:
    rows = table(size)
    hyper = Hyperparameters(RATE, size.width, DECAY, DECAY, TASK_DIM)
    plan = Plan(max(1, size.epochs // 2), size.batches)
    seeds = range(1, MEMBERS + 1)
    times = []
    for repeat in range(repeats + 1):
        alone = seconds(
            lambda: [train(rows, size.tasks, "lc", hyper, plan, s, options=options) for s in seeds]
        )
        together = seconds(
            lambda: train_members(rows, size.tasks, "lc", hyper, plan, list(seeds), options=options)
        )
        if repeat:  # the first round warms up
            times.append((alone, together))
    ratio = statistics.median(alone / together for alone, together in times)
    print(f"{size.name}, {options.optimizer}: {ratio:.2f} times as fast", flush=True)
    return {"name": size.name, "optimizer": options.optimizer, "times_one_by_one": round(ratio, 3)}


def main() -> None:
    parser = options(__doc__, "members.json")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    found = [
        compare(size, options, arguments.repeats)
        for size in (*SMALL, *MEASURED)
        for options in (Options(), Options("adamw"))
    ]
    write_json(arguments.output, {"members": MEMBERS, "sizes": found})


if __name__ == "__main__":
    main()
