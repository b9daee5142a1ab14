"""Test errors of learned-context networks at a fixed small budget, one thread, no search.

Settings are round numbers, chosen on validation rows where there was a choice; the thresholds
are targets that a change in the engine must not miss.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.shared import options
from learned_context import metrics
from learned_context.training.trainer import Hyperparameters, Plan, train
from pipeline.files import Files, write_json
from pipeline.tables.prepared import Prepared

# dataset: peak rate, width, task parameters, epochs, batches, the error to reach
CASES = {
    "frequency": (0.05, 64, 4, 60, 30, 0.110),
    "sine_and_line": (0.1, 100, 4, 1000, 10, 0.335),
    "parkinson": (0.1, 64, 8, 300, 8, 2.95),
    "bike_sharing": (0.05, 64, 4, 300, 20, 58.0),
    "inflation": (0.1, 100, 8, 1000, 8, 1.9),
}
SEED = 4


def evaluate(dataset: str, files: Files) -> dict[str, float | str | bool]:
    rate, width, task_dim, epochs, batches, target = CASES[dataset]
    prepared = Prepared.read(files, dataset)
    rows = prepared.encode(prepared.frame, "number")
    test = rows.take(prepared.test_rows())
    hyper = Hyperparameters(rate, width, 1e-8, 1e-8, task_dim)
    started = time.process_time()
    trained = train(
        rows.take(prepared.train_rows()),
        len(prepared.tasks),
        "lc",
        hyper,
        Plan(epochs, batches, window_min=5),
        SEED,
    )
    rmse = metrics.rmse(test.y, trained.predict(test))
    return {
        "dataset": dataset,
        "rmse": rmse,
        "target": target,
        "reached": rmse <= target,
        "restarts": trained.restarts,
        "epochs": len(trained.losses),
        "cpu_seconds": round(time.process_time() - started, 1),
    }


def main() -> None:
    parser = options(__doc__, "quality.json")
    parser.add_argument("--project", type=Path, default=Path(), help="where the tables are")
    arguments = parser.parse_args()
    found = [evaluate(dataset, Files(arguments.project)) for dataset in CASES]
    for entry in found:
        print("{dataset}: {rmse:.4g} (at most {target}), {cpu_seconds} s".format(**entry))
    write_json(arguments.output, found)
    sys.exit(not all(entry["reached"] for entry in found))


if __name__ == "__main__":
    main()
