"""Data: Table 1, editions and their hashes, leakage and what it does to the errors."""

from __future__ import annotations

from pipeline.datasets.sources import load as load_sources
from pipeline.errors import UserError
from pipeline.reporting.blocks import Cell, Table
from pipeline.reporting.cells import name_cell, number, text
from pipeline.reporting.labels import MODELS
from pipeline.reporting.numbers import properties
from pipeline.reporting.results import Results

COLUMNS = {
    "features": ("Features", 0),
    "tasks": ("Tasks", 0),
    "train": ("Training rows", 0),
    "test": ("Test rows", 0),
    "std": ("Std of y", 2),
}


def table_1(results: Results) -> Table:
    rows = []
    for dataset in results.datasets:
        found = properties(results.info(dataset))
        rows.append(
            [
                name_cell(results, dataset),
                *(
                    number(found.get(c), decimals, results.paper.value("datasets", dataset, c))
                    for c, (_, decimals) in COLUMNS.items()
                ),
            ]
        )
    return Table(
        "table_1",
        "Table 1. The datasets: features, tasks, rows, and the standard deviation of the target.",
        ("Dataset", *(label for label, _ in COLUMNS.values())),
        rows,
        results.footnotes(),
    )


def editions(results: Results) -> Table:
    try:
        sources = load_sources(results.files.sources)
    except UserError:  # a report can be made without the list of sources
        sources = None
    rows = []
    for dataset in results.datasets:
        info = results.info(dataset)
        if info is None:
            continue
        try:
            source = sources.edition(dataset, info["edition"]) if sources else None
        except UserError:  # a dataset of one's own
            source = None
        rows.append(
            [
                name_cell(results, dataset),
                Cell(info["edition"]),
                Cell("yes" if info["comparable"] else "no"),
                text(info["differs"]),
                text(source.licence if source else ""),
                text(source.citation if source else ""),
            ]
        )
    return Table(
        "editions",
        "Which edition of each dataset was used, and whether its results stand beside the paper's.",
        ("Dataset", "Edition", "Comparable", "How it differs", "Licence", "Source"),
        rows,
    )


def hashes(results: Results) -> Table:
    rows = []
    for dataset in results.datasets:
        info = results.info(dataset)
        if info is None:
            continue
        for name, digest in info["raw"].items():
            rows.append([name_cell(results, dataset), Cell(f"raw: {name}"), Cell(digest)])
        rows.append([name_cell(results, dataset), Cell("table"), Cell(info["content_sha256"])])
    return Table(
        "hashes",
        "SHA-256 of every raw file, and of the prepared table's values with all its splits.",
        ("Dataset", "What", "SHA-256"),
        rows,
    )


def leakage(results: Results) -> Table:
    rows = []
    for dataset in results.datasets:
        info = results.info(dataset)
        if info is None:
            continue
        counts = info["rows"]
        share = counts["leaked"] / counts["test"] if counts["test"] else None
        rows.append(
            [
                name_cell(results, dataset),
                Cell(info["split"]),
                number(counts["leaked"], 0),
                number(counts["test"], 0),
                number(share, 3),
            ]
        )
    return Table(
        "leakage",
        "Training rows whose features and task stand in the test part too. Equal rows can be an "
        "accident of coarse features; where they are more than "
        f"{results.settings.params.leak_share:.0%} of the test rows, the networks are trained once "
        "more without them.",
        ("Dataset", "Split", "Leaked rows", "Test rows", "Leaked / test"),
        rows,
        results.footnotes(),
    )


def clean(results: Results) -> Table:
    rows = []
    for dataset in results.datasets:
        result = results.get("clean", dataset, "clean")
        for model, outcome in (result or {"models": {}})["models"].items():
            base = (results.get("train", dataset, model) or {}).get("rmse")
            rows.append(
                [
                    name_cell(results, dataset),
                    Cell(MODELS[model].label),
                    number(base, 3, results.paper.value("base", dataset, model)),
                    number(outcome["rmse"], 3),
                    number(outcome["rmse"] / base if base else None, 2),
                ]
            )
    return Table(
        "clean",
        "The same test rows, with networks that have not seen them: the error that the published "
        "split hides."
        if rows
        else "No dataset here has such a leak: nothing was trained again.",
        ("Dataset", "Model", "Official split", "Without the leaked rows", "Ratio"),
        rows,
        results.footnotes(),
    )
