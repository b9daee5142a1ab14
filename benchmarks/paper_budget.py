"""The paper's budget for every number that is far from the paper's: is it the budget?

A case is a network of Table 2 on a comparable dataset whose error differs from the paper's by more
than 10% in either direction, or one of Table 4 that needs an explanation. It is trained with the
settings and the seed of the study on the paper's budget (10,000 epochs of two batches), and with
`--widths` once more for each larger width. `--rates` adds trainings on our budget with a share of
the peak rate: the paper's search may have found a lower one. Learned context on a part of the rows
is also trained with few task parameters, of which a search can choose too many there. The error on
the training rows tells a network that has not learned from one that has overfitted.

A training that is in the output file, of the same rows and settings, is kept; so a run can be
stopped and started at any time, and `--only` and `--minutes` divide it into parts. Tables are read
only if a training is missing: in a clone without data the command prints what is recorded.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.shared import chosen, options, run_main
from learned_context import metrics
from learned_context.networks.registry import ARCHITECTURES
from learned_context.rows import Rows
from learned_context.training.trainer import Hyperparameters, Plan, train
from pipeline import settings
from pipeline.files import Files, read_json, write_json
from pipeline.reporting.checking import check
from pipeline.reporting.results import Results
from pipeline.settings import Profile, load_section
from pipeline.studies import STUDIES
from pipeline.studies.framework.plans import budget_for
from pipeline.studies.sizes import SizeOutcome
from pipeline.studies.train import TrainResult
from pipeline.tables.description import read_description
from pipeline.tables.prepared import Prepared

OFF = 0.10
"""Relative to the paper's error."""
FEW_TASK_PARAMETERS = (1, 2, 4)


@dataclass(frozen=True)
class Case:
    dataset: str
    model: str
    fraction: float
    paper: float
    ours: float

    @property
    def name(self) -> str:
        return f"{self.dataset}-{self.model}-{self.fraction:g}"

    @property
    def unit(self) -> str:
        """Of the printed number: Table 2 has errors, Table 4 has them normalised."""
        return "rmse" if self.fraction == 1.0 else "normalised"


@dataclass(frozen=True)
class CaseTraining:
    """One training of a case."""

    hyper: Hyperparameters
    plan: Plan
    seed: int


def study_setting(files: Files, dataset: str, model: str, fraction: float = 1.0) -> CaseTraining:
    """How the study trained this network."""
    outcome = outcome_of(files, dataset, model, fraction)
    hyper = Hyperparameters(**outcome.hyperparameters.model_dump())
    return CaseTraining(hyper, Plan(**outcome.plan), outcome.seed)


def outcome_of(
    files: Files, dataset: str, model: str, fraction: float
) -> TrainResult | SizeOutcome:
    if fraction == 1.0:
        return STUDIES["train"].read(files, dataset, model)
    return STUDIES["sizes"].read(files, dataset, model).fractions[str(fraction)]


def training_rows(files: Files, dataset: str, model: str, fraction: float = 1.0) -> int:
    """Of this network in the study."""
    return outcome_of(files, dataset, model, fraction).rows.train


def cases(results: Results) -> Iterator[Case]:
    """The numbers that are far from the paper's, in the order of the tables."""
    for number in check(results).numbers:
        if not number.comparable or number.ours is None or number.ratio is None:
            continue
        model, _, share = number.column.partition(" ")
        if number.table == "base" and model in ARCHITECTURES and abs(number.ratio - 1) > OFF:
            yield Case(number.row, model, 1.0, number.paper, number.ours)
        if number.table == "sizes" and number.is_open:
            yield Case(number.row, model, float(share), number.paper, number.ours)


def paper_plan(files: Files, ours: Plan, rows: int) -> Plan:
    section = load_section(files.profile("paper"), Profile).train
    budget = budget_for(section.budget, rows)
    return replace(
        ours, epochs=budget.epochs, batches=budget.batches, window_min=section.window_min
    )


def settings_of(
    ours: CaseTraining,
    paper: Plan,
    widths: Sequence[int],
    rates: Sequence[float] = (),
    task_dims: Sequence[int] = (),
) -> dict[str, CaseTraining]:
    """By name: the study's own training, the paper's budget, and these with one thing changed."""
    found = {"workstation": ours, "paper": replace(ours, plan=paper)}
    for width in widths:
        if width > ours.hyper.width:
            hyper = replace(ours.hyper, width=width)
            found[f"paper, width {width}"] = CaseTraining(hyper, paper, ours.seed)
    for share in rates:
        hyper = replace(ours.hyper, peak_rate=share * ours.hyper.peak_rate)
        found[f"workstation, {share:g} of the peak rate"] = replace(ours, hyper=hyper)
    for task_dim in task_dims:
        if ours.hyper.task_dim not in (0, task_dim):
            hyper = replace(ours.hyper, task_dim=task_dim)
            found[f"workstation, {task_dim} task parameters"] = replace(ours, hyper=hyper)
    return found


def run(rows: tuple[Rows, Rows], tasks: int, model: str, std: float, made: CaseTraining) -> dict:
    """Train once; errors on the training and on the test rows."""
    known, test = rows
    started = time.process_time()
    trained = train(known, tasks, model, made.hyper, made.plan, made.seed)
    error = metrics.rmse(test.y, trained.predict(test))
    return {
        "width": made.hyper.width,
        "rmse": error,
        "normalised": error / std,
        "train_rmse": metrics.rmse(known.y, trained.predict(known)),
        "epochs": len(trained.losses),
        "epochs_allowed": made.plan.epochs,
        "batches": made.plan.batches,
        "restarts": trained.restarts,
        "finished": trained.finished,
        "cpu_seconds": round(time.process_time() - started, 1),
        "setting": as_json(made),
    }


def fill(
    known: dict[str, dict], wanted: dict[str, CaseTraining], make: Callable[[CaseTraining], dict]
) -> Iterator[tuple[str, dict]]:
    """The runs that are wanted, by name; one of the same setting is taken as it is."""
    for name, made in wanted.items():
        found = known.get(name)
        yield name, found if found and found["setting"] == as_json(made) else make(made)


def compare(
    files: Files,
    case: Case,
    known: dict[str, dict],
    widths: Sequence[int],
    rates: Sequence[float],
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The name of a run, and the case with it; one run more each time."""
    network = case.dataset, case.model, case.fraction
    ours, count = study_setting(files, *network), training_rows(files, *network)
    task_dims = FEW_TASK_PARAMETERS if case.model == "lc" and case.fraction < 1 else ()
    paper = paper_plan(files, ours.plan, count)
    wanted = settings_of(ours, paper, widths, rates, task_dims)

    @cache
    def tables() -> tuple[Prepared, tuple[Rows, Rows]]:
        prepared = Prepared.read(files, case.dataset)
        rows = prepared.encode(prepared.frame, settings.load(files).params.categories)
        parts = prepared.train_rows(case.fraction), prepared.test_rows()
        return prepared, (rows.take(parts[0]), rows.take(parts[1]))

    def make(made: CaseTraining) -> dict:
        prepared, rows = tables()
        return run(rows, len(prepared.tasks), case.model, prepared.info.std, made)

    found = {
        "name": case.name,
        "data": data_of(files, case.dataset),
        **asdict(case),
        "unit": case.unit,
        "paper_prints": case.paper,
        "runs": still_valid(known, ours, paper),
    }
    for name, done in fill(known, wanted, make):
        found["runs"][name] = done
        yield name, found


def still_valid(known: dict[str, dict], ours: CaseTraining, paper: Plan) -> dict[str, dict]:
    """The runs with the budgets of now, wanted or not, if the study trains as it did then."""
    study = known.get("workstation", {}).get("setting")
    plans = [as_json(replace(ours, plan=plan))["plan"] for plan in (ours.plan, paper)]
    if study != as_json(ours):
        return {}
    return {name: one for name, one in known.items() if one["setting"]["plan"] in plans}


def as_json(made: CaseTraining) -> Any:
    """As a file has it."""
    return json.loads(json.dumps(asdict(made)))


def data_of(files: Files, dataset: str) -> str:
    """The SHA-256 of the table's content: the rows and their split."""
    return read_description(files, dataset).content_sha256


def raw_of(files: Files, dataset: str) -> dict[str, str]:
    """The SHA-256 of the table's raw files, by name, whatever the split."""
    return dict(read_description(files, dataset).raw)


def read_cases(path: Path) -> dict[str, dict[str, Any]]:
    """What an earlier run has written, by the names of the cases."""
    return {case["name"]: case for case in read_json(path)} if path.exists() else {}


def share(text: str) -> float:
    value = float(text)
    if not 0 < value <= 1:
        raise ValueError(text)
    return value


def main() -> None:
    parser = options(__doc__, "paper_budget.json")
    parser.add_argument("--project", type=Path, default=Path(), help="where tables and results are")
    parser.add_argument("--widths", type=int, nargs="*", default=[], help="larger widths to try")
    parser.add_argument(
        "--rates", type=share, nargs="*", default=[], help="shares of the study's peak rate to try"
    )
    parser.add_argument("--only", nargs="*", help="names of cases, as --list prints them")
    parser.add_argument("--list", action="store_true", help="print the cases and stop")
    parser.add_argument("--minutes", type=float, default=1e9, help="begin no training after these")
    arguments = parser.parse_args()
    files = Files(arguments.project.resolve())
    found = read_cases(arguments.output)
    far = {case.name: case for case in cases(Results(files))}
    for name, case in far.items():
        print(
            f"{name}: ours {case.ours:.4g}, paper {case.paper:g}, ratio "
            f"{case.ours / case.paper:.2f}",
            flush=True,
        )
    if arguments.list:
        return
    for name, case in chosen(far, arguments.only).items():
        earlier = found.get(name, {})
        same_study = earlier.get("ours") == case.ours
        same_rows = earlier.get("data") == data_of(files, case.dataset)
        known = earlier["runs"] if same_study and same_rows else {}
        for run_name, filled in compare(files, case, known, arguments.widths, arguments.rates):
            found[name] = filled
            write_json(arguments.output, [found[one] for one in far if one in found])
            last = filled["runs"][run_name]
            print(
                f"  {name}, {run_name}: {last[case.unit]:.4f} after {last['epochs']} of "
                f"{last['epochs_allowed']} epochs of {last['batches']} batches, training error "
                f"{last['train_rmse']:.4g}, {last['cpu_seconds']} s",
                flush=True,
            )
            if time.process_time() > 60 * arguments.minutes:
                sys.exit(f"stopped after {arguments.minutes:g} minutes; run it again to go on")


if __name__ == "__main__":
    run_main(main)
