"""The README's table: generated, so that it cannot differ from the results."""

from __future__ import annotations

import json
from pathlib import Path

from pipeline.errors import UserError
from pipeline.files import read_text, write_text
from pipeline.reporting.blocks import Table
from pipeline.reporting.cells import name_cell, number, text
from pipeline.reporting.checking import check
from pipeline.reporting.results import Results

BEGIN, END = "<!-- results:begin -->", "<!-- results:end -->"


def rewrite(results: Results) -> Path:
    path = results.files.root / "README.md"
    before = read_text(path)
    head, begin, rest = before.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not (begin and end):
        raise UserError(f"{path}: the lines {BEGIN} and {END} are needed, in this order")
    write_text(path, f"{head}{BEGIN}\n{block(results)}{END}{tail}")
    return path


def block(results: Results) -> str:
    profile = results.settings.params.profile
    seconds = timings(results)
    time = (
        f" The runs took {_duration(sum(seconds.values()))} of one core in all." if seconds else ""
    )
    return (
        f"{table(results).markdown()}\n"
        f"Made by `python -m pipeline report --readme` from `results/`, profile `{profile}`.{time} "
        "The whole report is `reports/index.html`.\n"
    )


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


def timings(results: Results) -> dict[str, float]:
    """Seconds by study, of the datasets in params.yaml; from files that no stage depends on."""
    total: dict[str, float] = {}
    for dataset in results.datasets:
        for path in sorted((results.files.root / "results").glob(f"*/{dataset}/*.run.json")):
            try:
                seconds = float(json.loads(path.read_text(encoding="utf-8"))["seconds"])
            except (ValueError, KeyError, TypeError):
                continue  # a time is worth no error
            total[path.parts[-3]] = total.get(path.parts[-3], 0.0) + seconds
    return total


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
