"""Data: the glossary of datasets, Table 1, leakage and what it does to the errors, hashes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from learned_context.errors import UserError
from pipeline.datasets.sources import Edition
from pipeline.datasets.sources import load as load_sources
from pipeline.reporting import numbers
from pipeline.reporting.blocks import Cell, PageBlock, Table
from pipeline.reporting.cells import dataset_table, name_cell, number
from pipeline.reporting.formatting import listed, percent, plural, show
from pipeline.reporting.labels import LINEAR, dataset_label, model_style
from pipeline.reporting.numbers import properties
from pipeline.reporting.results import Results
from pipeline.reporting.story import Story
from pipeline.studies import clean
from pipeline.tables.description import TableDescription

COLUMNS = {
    "features": ("Features", 0),
    "tasks": ("Tasks", 0),
    "train": ("Training rows", 0),
    "test": ("Test rows", 0),
    "std": ("Std of y", 2),
}


def story(results: Results) -> Story:
    known = results.infos()
    same = [d for d in known if not results.difference(d)]
    comparable = [d for d in known if d not in same and known[d].comparable]
    other = [d for d in known if d not in same and not known[d].comparable]
    limit = results.settings.params.leak_share
    leaks = [d for d, info in known.items() if _leak_share(info) > limit]
    title = f"{len(same) + len(comparable)} of {plural(len(known), 'dataset')} can be compared"
    if leaks:
        share, name = percent(_leak_share(known[leaks[0]])), dataset_label(leaks[0])
        title = f"{share} of {name}’ test rows are in its training file"
    return Story(
        title,
        f"{plural(len(same), 'dataset is', 'datasets are')} the paper's own file or generated as "
        f"it says. {plural(len(comparable), 'is', 'are')} rebuilt closely enough for a comparison"
        f"{_in(comparable)}. {plural(len(other), 'is', 'are')} different data{_in(other)} and not "
        "compared with the paper.",
    )


def _in(datasets: list[str]) -> str:
    return f" ({listed([dataset_label(dataset) for dataset in datasets])})" if datasets else ""


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
class Glossary(PageBlock):
    template = "glossary.html"

    entries: Sequence[GlossaryEntry]


def glossary(results: Results) -> Glossary:
    """Of every dataset: where it comes from, how it differs from the paper's, what that does."""
    sources, errors = _sources(results), numbers.base(results)
    entries = []
    for dataset, info in results.infos().items():
        label, difference = results.label(dataset), results.difference(dataset)
        effect = _effect(results, info, errors.get(dataset, {})) if difference else ""
        source = sources.get(dataset)
        entries.append(GlossaryEntry(dataset, label, info, difference, effect, source))
    return Glossary(entries)


def _effect(results: Results, info: TableDescription, errors: dict[str, float]) -> str:
    """What another edition does to the numbers: the linear models show it without any training."""
    parts = []
    for model in LINEAR:
        printed = results.paper.value("base", info.dataset, model)
        if model in errors and printed:
            style = model_style(model)
            parts.append(f"{style.label} {show(errors[model])} (paper {show(printed)})")
    said = f"The linear models, which need no tuning, have the errors {listed(parts)}. "
    compared = "compared" if info.comparable else "not compared"
    return (said if parts else "") + f"Its numbers are {compared} with the paper's."


def _sources(results: Results) -> dict[str, Edition]:
    try:
        sources = load_sources(results.files.sources)
    except UserError:  # a report can be made without the list of sources
        return {}
    found = {}
    for dataset, info in results.infos().items():
        with suppress(UserError):  # a user's own dataset
            found[dataset] = sources.edition(dataset, info.edition)
    return found


def table_1(results: Results) -> Table:
    def cells(dataset: str) -> Iterator[Cell]:
        found = properties(results.info(dataset))
        for column, (_, decimals) in COLUMNS.items():
            printed = results.paper.value("datasets", dataset, column)
            yield number(found.get(column), decimals, printed)

    return dataset_table(
        results,
        "table_1",
        "Table 1. The datasets: features, tasks, rows, and the standard deviation of the target.",
        [label for label, _ in COLUMNS.values()],
        cells,
    )


def hashes(results: Results) -> Table:
    found = [
        (dataset, what, digest)
        for dataset, info in results.infos().items()
        for what, digest in (
            *((f"raw: {name}", digest) for name, digest in info.raw.items()),
            ("table", info.content_sha256),
        )
    ]
    return Table.of(
        "hashes",
        "SHA-256 of every raw file, and of the prepared table's values with all its splits.",
        found,
        {
            "Dataset": lambda row: name_cell(results, row[0]),
            "What": lambda row: row[1],
            "SHA-256": lambda row: Cell(row[2], style="hash"),
        },
        cards=True,
    )


def leakage(results: Results) -> Table:
    return Table.of(
        "leakage",
        "Test rows whose features and task also appear in the training data. A few equal rows can "
        "be an accident of coarse features; where they are more than "
        f"{percent(results.settings.params.leak_share)} of the test rows, the networks are trained "
        "again without them.",
        results.infos().values(),
        {
            "Dataset": lambda info: name_cell(results, info.dataset),
            "Rows in both parts": lambda info: number(info.rows.leaked, 0),
            "Test rows": lambda info: number(info.rows.test, 0),
            "Share of the test rows": lambda info: Cell(
                percent(_leak_share(info), 1), _leak_share(info)
            ),
        },
    )


def clean_errors(results: Results) -> Table:
    errors = numbers.base(results)
    trained_again = [
        (dataset, model, errors.get(dataset, {}).get(model), outcome.rmse)
        for dataset, result in results.found(clean.STUDY).items()
        for model, outcome in result.models.items()
    ]
    return Table(
        "clean",
        "Errors on the same test rows: networks trained on the official split, and networks "
        "trained without the leaked rows."
        if trained_again
        else "No dataset here has such a leak: nothing was trained again.",
        ("Dataset", "Model", "Official split", "Without the leaked rows", "Ratio"),
        [
            [
                name_cell(results, dataset),
                Cell(model_style(model).label),
                number(official, 3, results.paper.value("base", dataset, model)),
                number(without, 3),
                number(without / official if official else None, 2),
            ]
            for dataset, model, official, without in trained_again
        ],
    )
