"""Reproduce: the commands, and which code and budget made the results that stand here."""

from __future__ import annotations

from pipeline.reporting.blocks import Cell, Table, Text
from pipeline.reporting.cells import number
from pipeline.reporting.results import Result, Results

COMMANDS = """\
make install                              # once: a virtual environment from the lock file
make demo                                 # minutes: every study on two synthetic datasets
make plan                                 # what would run, and for how long
make run                                  # the study of params.yaml; goes on where it stopped
python -m pipeline check                  # our numbers beside the paper's; fails on a difference
python -m pipeline report base            # one page anew
python -m pipeline audit                  # a clone, without data: can these results be believed?
dvc repro --dry --allow-missing           # a clone: nothing may be stale
dvc exp run -S 'datasets=[frequency]'     # an experiment of your own
dvc metrics diff                          # its numbers beside the committed ones
dvc plots diff                            # its curves beside the committed ones
"""

STUDIES = {
    "linear": ("linear",),
    "tune": ("lc", "cs", "ll", "fs"),
    "train": ("lc", "cs", "ll", "fs"),
    "repeats": ("lc", "cs", "ll"),
    "sizes": ("lc", "cs", "ll"),
    "dimension": ("lc", "ll"),
    "adapt": ("lc",),
    "clean": ("clean",),
    "illustrate": ("lc",),
}


def commands() -> Text:
    return Text(
        (
            "Every result is the output of a DVC stage and equal to the bit when it is run again "
            "on the same kind of machine. Results, tables, figures and pages are in git; tables of "
            "data and trained networks are in DVC's cache.",
        ),
        code=COMMANDS,
    )


def provenance(results: Results) -> Table:
    rows = []
    for study, names in STUDIES.items():
        found = [
            _head(results, study, dataset, name) for dataset in results.datasets for name in names
        ]
        heads = [head for head in found if head]
        rows.append(
            [
                Cell(study),
                number(len(heads), 0),
                Cell(", ".join(sorted({head["profile"] for head in heads})) or "–"),
                Cell(", ".join(sorted({head["code"] for head in heads})) or "–"),
            ]
        )
    return Table(
        "provenance",
        "How many results each study has, with which profile's budgets and by which code. More "
        "than one digest in a row means results of different versions of the code.",
        ("Study", "Results", "Profile", "Digest of the code"),
        rows,
    )


def _head(results: Results, study: str, dataset: str, name: str) -> Result | None:
    params = results.settings.params
    asked = {"tune": params.models, "train": params.models, "dimension": params.varied}
    asked |= {"repeats": params.compared, "sizes": params.compared}
    if name not in asked.get(study, (name,)):
        return None
    return results.get(study, dataset, name)
