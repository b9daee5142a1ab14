"""The tables in README.md and docs/: generated, so that they cannot differ from the results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pipeline.errors import UserError
from pipeline.files import read_json, read_text, write_text
from pipeline.reporting import benchmarks
from pipeline.reporting.blocks import Cell, Table
from pipeline.reporting.cells import name_cell, number, text
from pipeline.reporting.checking import check
from pipeline.reporting.results import Results

STUDIES = [
    "linear",
    "tune",
    "train",
    "repeats",
    "sizes",
    "dimension",
    "holdout",
    "adapt",
    "clean",
    "illustrate",
]
BEGIN, END = "<!-- results:begin -->", "<!-- results:end -->"


def rewrite(results: Results) -> list[Path]:
    """Put every generated block between its marks; the README must have them."""
    written = []
    for name, block in BLOCKS.items():
        path = results.files.root / name
        if path.exists() or name == "README.md":
            write_text(path, with_block(path, block(results)))
            written.append(path)
    return written


def with_block(path: Path, block: str) -> str:
    """The text of a file with this block between the marks."""
    head, begin, rest = read_text(path).partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not (begin and end):
        raise UserError(f"{path}: the lines {BEGIN} and {END} are needed, in this order")
    return f"{head}{BEGIN}\n{block}{END}{tail}"


def errors_block(results: Results) -> str:
    """Ours beside the paper's, what it took, on what, and by which command."""
    runs = _runs(results)
    took = ""
    if runs:
        seconds = sum(map(_processor_seconds, runs.values()))
        machines = sorted({f"{run['system']}, {run['cpu']}" for run in runs.values()})
        took = (
            f" The study took {_duration(seconds)} of processor time, one thread a training "
            f"({'; '.join(machines)}); `docs/reproducibility.md` has it by study and dataset."
        )
    return (
        f"{table(results).markdown()}\n"
        f"From `results/`, made by `python -m pipeline run` with the profile "
        f"`{results.settings.params.profile}`.{took} The whole report is `reports/index.html`; "
        "this table is written by `python -m pipeline report --readme`.\n"
    )


def times_block(results: Results) -> str:
    """Processor time by study and dataset."""
    runs = _runs(results)
    found = {study for study, *_ in runs}
    studies = [study for study in STUDIES if study in found]
    rows = [[Cell(dataset), *_minutes(runs, studies, dataset)] for dataset in results.datasets] + [
        [Cell("all"), *_minutes(runs, studies, None)]
    ]
    return Table(
        "times",
        "Minutes of processor time, one thread a training",
        ("Dataset", *studies, "all"),
        rows,
    ).markdown()


def faults_block(results: Results) -> str:
    """How often what is promised was tried, and what the study took."""
    tried = benchmarks.tables(results.files, "kills", "tamperings", "line_coverage", "mutation")
    return f"{tried}\n{times_block(results)}"


def benchmarks_block(results: Results) -> str:
    """Speed and quality, as measured."""
    names = ("paper_budget", "training", "quality", "holdout", "estimator", "others", "runner")
    return benchmarks.tables(results.files, *names)


BLOCKS: dict[str, Callable[[Results], str]] = {
    "README.md": errors_block,
    "docs/reproducibility.md": faults_block,
    "docs/benchmarks.md": benchmarks_block,
}


def _minutes(runs: dict[Place, Run], studies: list[str], dataset: str | None) -> list[Cell]:
    def total(study: str | None) -> float:
        return sum(
            _processor_seconds(run)
            for (one_study, one_dataset, _), run in runs.items()
            if study in (None, one_study) and dataset in (None, one_dataset)
        )

    return [number(total(study) / 60, 1) for study in (*studies, None)]


def table(results: Results) -> Table:
    verdicts = {compared.cell: compared for compared in check(results).numbers}
    rows = []
    for dataset in results.datasets:
        compared = verdicts.get(f"base/{dataset}/lc")
        if compared is not None and compared.comparable and compared.ours is not None:
            rows.append(
                [
                    name_cell(results, dataset),
                    number(compared.ours, 3),
                    number(compared.paper, 3),
                    number(compared.ratio, 2),
                    text(compared.verdict),
                ]
            )
    shown = {row[0].text for row in rows}
    notes = [
        f"† {results.difference(dataset)}"
        for dataset in results.datasets
        if results.difference(dataset) and results.label(dataset) in shown
    ]
    return Table(
        "readme",
        "Test error of the learned-context network beside the paper's (Table 2)",
        ("Dataset", "Ours", "Paper", "Ratio", "Verdict"),
        rows,
        notes,
    )


Place = tuple[str, str, str]
Run = dict[str, Any]
RUN: dict[str, Any] = {"cpu_seconds": (int, float), "cpu": str, "system": str}


def _runs(results: Results) -> dict[Place, Run]:
    """What every stage took and on what: study, dataset and name of the result -> its run."""
    found = {}
    for dataset in results.datasets:
        for path in sorted((results.files.root / "results").glob(f"*/{dataset}/*.run.json")):
            study, name = path.parts[-3], path.name.removesuffix(".run.json")
            run = read_json(path)
            if not isinstance(run, dict) or not all(
                isinstance(run.get(key), kind) for key, kind in RUN.items()
            ):
                raise UserError(f"{path}: no time and machine; `git checkout` restores it")
            found[study, dataset, name] = run
    return found


def _processor_seconds(run: Run) -> float:
    """Not the time on the clock, which depends on what else the machine did."""
    return float(run["cpu_seconds"])


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
