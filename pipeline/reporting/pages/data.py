"""Data: the glossary of datasets, Table 1, leakage and what it does to the errors, hashes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from learned_context.errors import UserError
from pipeline.datasets.sources import Edition
from pipeline.datasets.sources import load as load_sources
from pipeline.reporting import numbers
from pipeline.reporting.blocks import Block, Cell, Table
from pipeline.reporting.cells import name_cell, number
from pipeline.reporting.formatting import listed, percent, plural, show
from pipeline.reporting.labels import LINEAR, dataset_label, model_style
from pipeline.reporting.numbers import properties
from pipeline.reporting.results import Results
from pipeline.reporting.story import Story
from pipeline.studies import clean, train
from pipeline.tables.description import TableDescription

COLUMNS = {
    "features": ("Features", 0),
    "tasks": ("Tasks", 0),
    "train": ("Training rows", 0),
    "test": ("Test rows", 0),
    "std": ("Std of y", 2),
}


def story(results: Results) -> Story:
    infos = {d: results.info(d) for d in results.datasets}
    known = {d: info for d, info in infos.items() if info}
    same = [d for d in known if not results.difference(d)]
    comparable = [d for d in known if d not in same and known[d].comparable]
    other = [dataset_label(d) for d in known if d not in same and not known[d].comparable]
    answer = (
        f"{plural(len(same), 'dataset is', 'datasets are')} the paper's own file or generated as "
        f"it says. {plural(len(comparable), 'is', 'are')} rebuilt closely enough for a comparison"
        + (f" ({listed([dataset_label(d) for d in comparable])})" if comparable else "")
        + f". {plural(len(other), 'is', 'are')} different data{_in(other)} and not compared with "
        "the paper."
    )
    leaks = [
        d for d, info in known.items() if _leak_share(info) > results.settings.params.leak_share
    ]
    if leaks:
        info = known[leaks[0]]
        title = (
            f"{percent(_leak_share(info))} of {dataset_label(leaks[0])}’ test rows are in its "
            "training file"
        )
    else:
        title = f"{len(same) + len(comparable)} of {plural(len(known), 'dataset')} can be compared"
    return Story(title, answer)


def _in(names: list[str]) -> str:
    return f" ({listed(names)})" if names else ""


def _leak_share(info: TableDescription) -> float:
    return info.rows.leaked / info.rows.test if info.rows.test else 0.0


@dataclass(frozen=True)
class GlossaryEntry:
    name: str
    label: str
    info: TableDescription
    difference: str
    effect: str
    source: Edition | None


@dataclass(frozen=True)
class Glossary(Block):
    template = "glossary.html"

    entries: Sequence[GlossaryEntry]


def glossary(results: Results) -> Glossary:
    """Of every dataset: where it comes from, how it differs from the paper's, what that does."""
    sources = _sources(results)
    return Glossary(
        [
            GlossaryEntry(
                dataset,
                results.label(dataset),
                info,
                results.difference(dataset),
                _effect(results, dataset, info),
                sources.get(dataset),
            )
            for dataset in results.datasets
            if (info := results.info(dataset))
        ]
    )


def _effect(results: Results, dataset: str, info: TableDescription) -> str:
    """What another edition does to the numbers: the linear models show it without any training."""
    if not results.difference(dataset):
        return ""
    errors = numbers.base(results).get(dataset, {})
    parts = []
    for model in LINEAR:
        printed = results.paper.value("base", dataset, model)
        if model in errors and printed:
            style = model_style(model)
            parts.append(f"{style.label} {show(errors[model])} (paper {show(printed)})")
    said = (
        f"The linear models, which need no tuning, have the errors {listed(parts)}. "
        if parts
        else ""
    )
    standing = (
        "Its numbers are compared with the paper's."
        if info.comparable
        else "Its numbers are not compared with the paper's."
    )
    return said + standing


def _sources(results: Results) -> dict[str, Edition]:
    try:
        sources = load_sources(results.files.sources)
    except UserError:  # a report can be made without the list of sources
        return {}
    found = {}
    for dataset in results.datasets:
        info = results.info(dataset)
        try:
            if info:
                found[dataset] = sources.edition(dataset, info.edition)
        except UserError:  # a user's own dataset
            continue
    return found


def table_1(results: Results) -> Table:
    rows = []
    for dataset in results.datasets:
        found = properties(results.info(dataset))
        cells = (
            number(found.get(c), decimals, results.paper.value("datasets", dataset, c))
            for c, (_, decimals) in COLUMNS.items()
        )
        rows.append([name_cell(results, dataset), *cells])
    return Table(
        "table_1",
        "Table 1. The datasets: features, tasks, rows, and the standard deviation of the target.",
        ("Dataset", *(label for label, _ in COLUMNS.values())),
        rows,
    )


def hashes(results: Results) -> Table:
    rows = []
    for dataset in results.datasets:
        info = results.info(dataset)
        if info is None:
            continue
        for name, digest in info.raw.items():
            rows.append([name_cell(results, dataset), Cell(f"raw: {name}"), _hash(digest)])
        rows.append([name_cell(results, dataset), Cell("table"), _hash(info.content_sha256)])
    return Table(
        "hashes",
        "SHA-256 of every raw file, and of the prepared table's values with all its splits.",
        ("Dataset", "What", "SHA-256"),
        rows,
        cards=True,
    )


def _hash(digest: str) -> Cell:
    return Cell(digest, style="hash")


def leakage(results: Results) -> Table:
    rows = []
    for dataset in results.datasets:
        info = results.info(dataset)
        if info is None:
            continue
        rows.append(
            [
                name_cell(results, dataset),
                number(info.rows.leaked, 0),
                number(info.rows.test, 0),
                Cell(percent(_leak_share(info), 1), _leak_share(info)),
            ]
        )
    return Table(
        "leakage",
        "Test rows whose features and task also appear in the training data. A few equal rows can "
        "be an accident of coarse features; where they are more than "
        f"{percent(results.settings.params.leak_share)} of the test rows, the networks are trained "
        "again without them.",
        ("Dataset", "Rows in both parts", "Test rows", "Share of the test rows"),
        rows,
    )


def clean_errors(results: Results) -> Table:
    rows = []
    for dataset in results.datasets:
        result = results.read(clean.STUDY, dataset)
        for model, outcome in (result.models if result else {}).items():
            base = results.read(train.STUDY, dataset, model)
            rows.append(
                [
                    name_cell(results, dataset),
                    Cell(model_style(model).label),
                    number(
                        base.rmse if base else None, 3, results.paper.value("base", dataset, model)
                    ),
                    number(outcome.rmse, 3),
                    number(outcome.rmse / base.rmse if base else None, 2),
                ]
            )
    return Table(
        "clean",
        "Errors on the same test rows: networks trained on the official split, and networks "
        "trained without the leaked rows."
        if rows
        else "No dataset here has such a leak: nothing was trained again.",
        ("Dataset", "Model", "Official split", "Without the leaked rows", "Ratio"),
        rows,
    )
