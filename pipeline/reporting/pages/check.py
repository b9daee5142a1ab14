"""Paper check: each number next to the paper's, each sentence with its evidence."""

from __future__ import annotations

from pipeline.reporting.blocks import Cell, Filter, Table
from pipeline.reporting.cells import number, text
from pipeline.reporting.checking import Check
from pipeline.reporting.formatting import listed, plural
from pipeline.reporting.labels import HYPERPARAMETERS, model_style
from pipeline.reporting.paper import Kind
from pipeline.reporting.results import Results
from pipeline.reporting.sentences import Comparison, outcome_counts
from pipeline.reporting.story import Story
from pipeline.reporting.verdicts import VERDICTS, Compared, counts

TONES = {"matches": "good", "agrees": "good", "better": "good", "worse": "bad", "differs": "bad"}
OUTCOME_TONES = {"holds in both": "good", "only in the paper": "bad"}
IN_WORDS = {
    "matches": ("matches", "match"),
    "better": ("is better", "are better"),
    "worse": ("is worse", "are worse"),
    "agrees": ("agrees", "agree"),
    "differs": ("differs", "differ"),
    "not comparable": ("is not comparable", "are not comparable"),
    "missing": ("is missing", "are missing"),
}


def counted(check: Check, kind: Kind = "result") -> str:
    """120 match, 24 are better, 9 are worse and 50 are not comparable."""
    found = counts(check.numbers, kind)
    return listed([plural(found[name], *IN_WORDS[name]) for name in VERDICTS[kind] if found[name]])


def story(check: Check) -> Story:
    found = counts(check.numbers)
    judged = sum(found.values()) - found["not comparable"] - found["missing"]
    agree = found["matches"] + found["better"]
    unexplained, same = len(check.unexplained), sum(bool(c.same_as) for c in check.numbers)
    agreeing = sum(ranking.agrees for ranking in check.rankings)
    return Story(
        f"{agree} of {judged} comparable results match the paper or are better"
        if judged
        else "No result can be compared yet",
        f"Tables 1 to 6 print {len(check.numbers)} numbers. Of {sum(found.values())} results, "
        f"{counted(check)}; {same} more are networks of Table 2 that Table 4 repeats. Sizes, "
        f"ranges and restarts are inputs and no results: {counted(check, 'input')}. In Table 3 "
        f"the ranking of the networks is the paper's on {agreeing} of "
        f"{plural(len(check.rankings), 'dataset')}. "
        + (
            f"{plural(unexplained, 'number that is', 'numbers that are')} better, worse or "
            "different beyond tolerance without an explanation yet."
            if unexplained
            else "Every number that is better, worse or different beyond tolerance has an "
            "explanation, which is in the list below."
        ),
    )


def by_table(results: Results, check: Check) -> Table:
    """Results only; a network that is in two tables is counted in the first."""
    kind: Kind = "result"
    rows = []
    for name, printed in results.paper.tables.items():
        found = counts([c for c in check.numbers if c.table == name], kind)
        if sum(found.values()):
            rows.append([Cell(printed.title), *(number(found[one], 0) for one in VERDICTS[kind])])
    titles = (verdict.capitalize() for verdict in VERDICTS[kind])
    return Table("verdicts", "", ("Table", *titles), rows, cards=True)


def all_numbers(results: Results, check: Check) -> Table:
    """Differences first, the largest first."""
    order = ("worse", "differs", "better", "matches", "agrees", "not comparable", "missing")

    def key(compared: Compared) -> tuple[int, float]:
        size = abs((compared.ratio or 1.0) - 1.0)
        return order.index(compared.verdict), -size

    return Table(
        "numbers",
        "Every number of Tables 1 to 6, differences first. A verdict opens to show its reason. "
        "Errors of Table 2 are also relative to the linear mixed model's on the same rows, which "
        "removes the luck of the split.",
        (
            "Verdict",
            "Table",
            "Dataset",
            "Cell",
            "Ours",
            "Paper",
            "Ratio",
            "Allowed ±",
            "Ours / LME",
            "Paper / LME",
        ),
        [_row(results, compared) for compared in sorted(check.numbers, key=key)],
        filters=(
            Filter("table", "Table", 1),
            Filter("dataset", "Dataset", 2),
            Filter("verdict", "Verdict", 0),
        ),
        sortable=True,
        cards=True,
        tall=True,
    )


def _row(results: Results, compared: Compared) -> list[Cell]:
    row = HYPERPARAMETERS.get(compared.row) or results.label(compared.row)
    marked = "†" in row
    table = results.paper.tables[compared.table].title.partition(":")[0]
    why = explanation(compared)
    tone = TONES.get(compared.verdict, "grey")
    return [
        Cell(compared.verdict, chip=tone, why=why, kind=compared.verdict),
        Cell(table),
        Cell(row, address=f"data.html#{compared.row}" if marked else "", kind=row),
        Cell(_column(compared)),
        number(compared.ours, None),
        number(compared.paper, None),
        number(compared.ratio, 2),
        number(compared.allowed, None),
        number(compared.by_lme, 3),
        number(compared.paper_by_lme, 3),
    ]


def explanation(compared: Compared) -> str:
    """The note with its evidence, and why the tolerance is what it is."""
    evidence = f"Evidence: {compared.command}." if compared.command else ""
    return " ".join(filter(None, (compared.note, evidence, compared.reason)))


def _column(compared: Compared) -> str:
    """`lc 0.1` of Table 4 is "LC, 10% of the rows"."""
    first, _, rest = compared.column.partition(" ")
    if compared.table == "base":
        return model_style(first).label
    if compared.table == "sizes":
        return f"{model_style(first).label}, {float(rest):.0%} of the rows"
    if compared.table == "repeats":
        words = {"min": "lowest", "max": "highest", "diverged": "restarts"}
        return f"{model_style(first).label}, {words.get(rest, rest)}"
    if compared.table == "holdout":
        return f"{first} task parameters"
    return compared.column


def sentences(check: Check) -> Table:
    found, every = (outcome_counts(check.sentences, every=flag) for flag in (False, True))
    counted = (f"{name}: {found[name]} ({every[name]})" for name in found if every[name])
    return Table(
        "sentences",
        "The paper's sentences as checks, on our numbers and on those that the paper prints, for "
        f"comparable datasets and for all. {'; '.join(counted)} (in brackets: all datasets).",
        (
            "Section",
            "The paper says",
            "Comparable datasets",
            "All datasets",
            "Evidence here",
            "Taken to mean",
        ),
        [
            [
                Cell(judged.sentence.section),
                Cell(f"“{judged.sentence.quote}”"),
                _outcome(judged.comparable),
                _outcome(judged.every),
                text(judged.ours.evidence),
                Cell(judged.sentence.criterion),
            ]
            for judged in check.sentences
        ],
        cards=True,
    )


def _outcome(compared: Comparison) -> Cell:
    why = f"Here: {compared.ours.evidence} In the paper: {compared.paper.evidence}"
    return Cell(compared.outcome, chip=OUTCOME_TONES.get(compared.outcome, "grey"), why=why)
