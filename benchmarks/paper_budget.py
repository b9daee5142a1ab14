"""The paper's exact budget beside the workstation's: learned context, the same settings and seed.

Sine and line on all rows, and the two trainings on a tenth of the rows that are worse than the
paper's. The settings are those that the workstation's search chose; both trainings are made here,
and the workstation's must come out as it is in results/.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pipeline.files import Files, read_json, write_json
from pipeline.reporting.results import Results
from pipeline.settings import Profile, load_section
from pipeline.tables import metrics
from pipeline.tables.prepared import Prepared
from pipeline.training.trainer import Hyperparameters, Plan, train

MODEL = "lc"
CASES = (("sine_and_line", 1.0), ("sine_and_line", 0.1), ("frequency", 0.1))


def plan_of_the_paper(files: Files, ours: Plan, rows: int) -> Plan:
    settings = load_section(files.profile("paper"), Profile).train
    budget = next(b for b in settings.budget if b.rows_below is None or rows < b.rows_below)
    return replace(
        ours, epochs=budget.epochs, batches=budget.batches, window_min=settings.window_min
    )


def compare(files: Files, dataset: str, fraction: float) -> dict[str, Any]:
    if fraction == 1.0:
        result = read_json(files.result("train", dataset, MODEL))
    else:
        result = read_json(files.result("sizes", dataset, MODEL))["fractions"][str(fraction)]
    prepared = Prepared.read(files.table(dataset), files.table_info(dataset))
    rows = prepared.encode(prepared.frame)
    known, test = rows.take(prepared.train_rows(fraction)), rows.take(prepared.test_rows())
    ours = Plan(**result["plan"])
    unit = result["rmse"] / result["normalised"]
    runs = {}
    for name, plan in (
        ("workstation", ours),
        ("paper", plan_of_the_paper(files, ours, len(known))),
    ):
        started = time.process_time()
        hyper = Hyperparameters(**result["hyperparameters"])
        trained = train(known, len(prepared.tasks), MODEL, hyper, plan, result["seed"])
        error = metrics.rmse(test.y, trained.predict(test))
        if name == "workstation" and error != result["rmse"]:
            sys.exit(f"{dataset}: {error} here, {result['rmse']} in results/: run it there first")
        runs[name] = {
            "rmse": error,
            "normalised": error / unit,
            "epochs": len(trained.losses),
            "epochs_allowed": plan.epochs,
            "batches": plan.batches,
            "restarts": trained.restarts,
            "cpu_seconds": round(time.process_time() - started, 1),
        }
    where = ("base", MODEL) if fraction == 1.0 else ("sizes", f"{MODEL} {fraction}")
    printed = Results(files).paper.value(where[0], dataset, where[1])
    unit_printed = "rmse" if fraction == 1.0 else "normalised"  # Table 2's, Table 4's
    return {
        "dataset": dataset,
        "fraction": fraction,
        "unit": unit_printed,
        "paper_prints": printed,
        "runs": runs,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--project", type=Path, default=Path(), help="where tables and results are")
    parser.add_argument("--output", type=Path, default=Path("results/benchmarks/paper_budget.json"))
    arguments = parser.parse_args()
    found = []
    for dataset, fraction in CASES:
        case = compare(Files(arguments.project.resolve()), dataset, fraction)
        found.append(case)
        print(f"{dataset}, {fraction:.0%} of the rows; the paper prints {case['paper_prints']}")
        for name, run in case["runs"].items():
            print(
                f"  {name}: {run[case['unit']]:.4f} after {run['epochs']} of "
                f"{run['epochs_allowed']} epochs of {run['batches']} batches, "
                f"{run['cpu_seconds']} s",
                flush=True,
            )
    write_json(arguments.output, found)


if __name__ == "__main__":
    main()
