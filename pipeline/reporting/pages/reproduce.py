"""Reproduce: the commands, what the study took, and which code and budget made the results."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pipeline.reporting import times
from pipeline.reporting.blocks import Cell, Table, Text, missing
from pipeline.reporting.cells import number
from pipeline.reporting.formatting import duration, plural, show
from pipeline.reporting.labels import dataset_label
from pipeline.reporting.results import Results
from pipeline.reporting.story import Story
from pipeline.studies import STUDIES

COMMANDS = Text(
    code="""\
make install                              # once: a virtual environment from the lock file
make demo                                 # minutes: every study on two synthetic datasets
make plan                                 # what would run, and for how long
make run                                  # the study of params.yaml; continues where it stopped
python -m pipeline check                  # our numbers and the paper's; fails on a difference
python -m pipeline report base            # render one page
python -m pipeline audit                  # a clone, without data: verify the committed results
dvc repro --dry --allow-missing           # a clone: nothing may be stale
dvc exp run -S 'datasets=[frequency]'     # an experiment with other parameters
dvc metrics diff                          # its numbers and the committed ones
dvc plots diff                            # its curves and the committed ones
"""
)

ONE_NUMBER = Text(
    code="""\
make install && . .venv/bin/activate # once, in a clone
dvc repro prepare@frequency          # the data, which are generated
dvc repro -f -s train@frequency-lc   # train LC again: a minute
cd results/train/frequency
grep -m 1 rmse lc.json               # the error
git diff --stat lc.json              # empty: the same bits
"""
)


def one_number(results: Results) -> str:
    """What the commands of ONE_NUMBER make, and what they should find."""
    found = results.read(STUDIES["train"], "frequency", "lc")
    printed = results.paper.value("base", "frequency", "lc")
    expected = (
        f" The error that it writes is **{show(found.rmse, 3)}**; the paper's is "
        f"{show(printed, 3)}."
        if found and printed
        else ""
    )
    return (
        f"For example LC's error on Frequency, in a clone, with Python 3.11 or newer.{expected} On "
        "another kind of processor sums round differently: then `git diff` is not empty, and the "
        "error may differ by as much as between two seeds (`python -m pipeline audit --rerun` "
        "allows 10%). Every number has such a stage, named after its study, dataset and model; "
        "[Reproduce](reproduce.html) lists the studies."
    )


def story(results: Results) -> Story:
    found = times.load(results)
    promise = (
        "Every result is the output of a DVC stage, and the same bits when it is run again on the "
        "same kind of machine."
    )
    if found is None:
        return Story("One command reproduces the study, another one a single number", promise)
    return Story(
        f"The whole study took {duration(found.total)} of processor time",
        f"{plural(found.stages, 'stage')} ran on {found.machine}, one thread for each "
        f"training. {promise}",
    )


def minutes(results: Results) -> Table | Text:
    """Processor time by study and dataset."""
    found = times.load(results)
    if found is None:
        return missing("The time of this study is not recorded yet.")
    studies = [name for name in STUDIES if name in found.cpu_seconds]

    def cell(study: str | None, dataset: str | None) -> Cell:
        """Of one study or all, and of one dataset or all."""
        seconds = sum(
            value
            for one_study in (studies if study is None else [study])
            for one_dataset, value in found.cpu_seconds[one_study].items()
            if dataset in (None, one_dataset)
        )
        minutes = seconds / 60
        return Cell("< 0.1", minutes) if 0 < minutes < 0.05 else number(minutes, 1)

    rows = [
        [
            Cell(dataset_label(dataset) if dataset else "All"),
            *(cell(study, dataset) for study in (*studies, None)),
        ]
        for dataset in (*results.datasets, None)
    ]
    return Table(
        "times",
        "Minutes of processor time, one thread for each training.",
        ("Dataset", *studies, "All"),
        rows,
    )


def provenance(results: Results) -> Table:
    heads: dict[str, list[Any]] = {}
    for study in STUDIES.values():
        models = [m for m in study.models(results.settings.params) if not study.reason_against(m)]
        heads[study.name] = list(results.every(study, models).values())

    def each(values: Iterable[str]) -> str:
        return ", ".join(sorted(set(values))) or "–"

    return Table.of(
        "provenance",
        "How many results each study has, with which profile's budgets and by which code. More "
        "than one digest in a row means results of different versions of the code.",
        STUDIES.values(),
        {
            "Study": lambda study: study.name,
            "What it does": lambda study: study.title,
            "Results": lambda study: number(len(heads[study.name]), 0),
            "Profile": lambda study: each(head.profile for head in heads[study.name]),
            "Digest of the code": lambda study: Cell(
                each(head.code[:12] for head in heads[study.name]), style="hash"
            ),
        },
    )
