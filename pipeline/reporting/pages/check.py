"""Paper check: each number beside the paper's, each sentence with its evidence."""

from __future__ import annotations

from pipeline.reporting.blocks import Cell, Table, Text
from pipeline.reporting.cells import number, text
from pipeline.reporting.checking import Check
from pipeline.reporting.labels import HYPERPARAMETERS
from pipeline.reporting.results import Results
from pipeline.reporting.sentences import Finding
from pipeline.reporting.verdicts import VERDICTS, Compared, counts

COLUMN_KINDS = {"not comparable": "unknown", "missing": "unknown"}
RULING_KINDS = {"holds": "holds", "does not hold": "fails", "cannot be judged": "unknown"}
PAPER_KINDS = {"does not hold": "surprise", "cannot be judged": "unknown"}


def summary(check: Check) -> Text:
    found, unexplained = counts(check.numbers), len(check.unexplained)
    listed = ", ".join(f"{found[name]} {name}" for name in VERDICTS)
    return Text(
        (
            f"Of the {len(check.numbers)} numbers of Tables 1 to 6: {listed}.",
            f"{unexplained} differences have no note in reports/paper.yaml."
            if unexplained
            else "Every difference has a note in reports/paper.yaml that explains it.",
            "A number matches within its tolerance, which stands beside it with the reason; a "
            "lower error beyond it is better, a higher one differs. Where the edition of a dataset "
            "is not comparable with the paper's, nothing is claimed.",
        )
    )


def by_table(results: Results, check: Check) -> Table:
    rows = []
    for name, printed in results.paper.tables.items():
        found = counts([compared for compared in check.numbers if compared.table == name])
        rows.append([Cell(printed.title), *(number(found[verdict], 0) for verdict in VERDICTS)])
    return Table("verdicts", "Verdicts by table.", ("Table", *VERDICTS), rows)


def differences(results: Results, check: Check) -> Table:
    differing = [compared for compared in check.numbers if compared.verdict == "differs"]
    return Table(
        "differences",
        "Numbers that differ beyond their tolerance, and the note that explains each."
        if differing
        else "No number differs beyond its tolerance.",
        ("Table", "Row", "Column", "Ours", "Paper", "Ratio", "Note"),
        [
            [*_place(results, compared), *_values(compared), text(compared.note)]
            for compared in differing
        ],
        results.footnotes(),
    )


def all_numbers(results: Results, check: Check) -> Table:
    return Table(
        "numbers",
        "Every number of Tables 1 to 6.",
        ("Table", "Row", "Column", "Ours", "Paper", "Ratio", "Allowed ±", "Verdict", "Reason"),
        [
            [
                *_place(results, compared),
                *_values(compared),
                number(compared.allowed, None),
                Cell(
                    compared.verdict,
                    title=compared.note,
                    kind=COLUMN_KINDS.get(compared.verdict, compared.verdict),
                ),
                Cell(compared.reason),
            ]
            for compared in check.numbers
        ],
        results.footnotes(),
    )


def sentences(check: Check) -> Table:
    return Table(
        "sentences",
        "The paper's sentences as checks, on our numbers and on those that the paper prints.",
        (
            "Section",
            "The paper says",
            "Taken to mean",
            "Ours",
            "Evidence",
            "The paper's own tables",
        ),
        [
            [
                Cell(judged.sentence.section),
                Cell(f"“{judged.sentence.quote}”"),
                Cell(judged.sentence.criterion),
                _ruling(judged.ours),
                Cell(judged.ours.evidence),
                Cell(
                    f"{judged.paper.ruling}: {judged.paper.evidence}",
                    kind=PAPER_KINDS.get(judged.paper.ruling, ""),
                ),
            ]
            for judged in check.sentences
        ],
    )


def _ruling(finding: Finding) -> Cell:
    return Cell(finding.ruling, kind=RULING_KINDS[finding.ruling])


def _place(results: Results, compared: Compared) -> list[Cell]:
    row = HYPERPARAMETERS.get(compared.row) or results.label(compared.row)
    title = "" if compared.table == "space" else results.difference(compared.row)
    table = results.paper.tables[compared.table].title.partition(":")[0]
    return [Cell(table), Cell(row, title=title), Cell(compared.column.replace("_", " "))]


def _values(compared: Compared) -> list[Cell]:
    return [
        number(compared.ours, None),
        number(compared.paper, None),
        number(compared.ratio, 2),
    ]
