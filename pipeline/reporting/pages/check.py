"""Paper check: each number next to the paper's, each sentence with its evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from statistics import median

from pipeline.reporting.blocks import Cell, Filter, Table
from pipeline.reporting.cells import name_cell, number, text
from pipeline.reporting.checking import Check
from pipeline.reporting.formatting import listed, plural, short, show
from pipeline.reporting.labels import HYPERPARAMETERS, dataset_label, model_style
from pipeline.reporting.pages.data import COLUMNS
from pipeline.reporting.paper import Kind
from pipeline.reporting.results import Results
from pipeline.reporting.sentences import Comparison, outcome_counts
from pipeline.reporting.story import Story
from pipeline.reporting.verdicts import JUDGED, VERDICTS, Compared, Pair, counts

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


def counted(check: Check, kind: Kind = "result", compared: bool = False) -> str:
    """120 match, 24 are better, 9 are worse and 50 are not comparable; or only those compared."""
    found = counts(check.numbers, kind)
    names = [name for name in VERDICTS[kind] if found[name] and (not compared or name in JUDGED)]
    return listed([plural(found[name], *IN_WORDS[name]) for name in names])


def story(check: Check) -> Story:
    unexplained, in_part = len(check.unexplained), check.explained["explained in part"]
    same, pairs = sum(bool(c.same_as) for c in check.numbers), check.pairs
    return Story(
        f"Of {check.judged} comparable results {counted(check, compared=True)}"
        if check.judged
        else "No result can be compared yet",
        f"Tables 1 to 6 print {len(check.numbers)} numbers. Of {sum(check.results.values())} "
        f"results, {counted(check)}; {same} more share the verdict of another: networks of "
        "Table 2 that Table 4 repeats, and the upper ends of Table 3's intervals. "
        "Sizes, ranges, restarts and errors by which our rows were chosen are inputs, not results: "
        f"{counted(check, 'input')}. Of {plural(sum(pairs.values()), 'pair')} of networks that "
        f"Table 3 separates, {pairs['same']} are in the same order here, {pairs['not separated']} "
        f"are not separated and {pairs['reversed']} reversed. "
        + (
            f"{plural(unexplained, 'number is', 'numbers are')} better, worse, different or far "
            "below a bound, and not explained yet."
            if unexplained
            else "Every number that is better, worse, different or far below a bound has an "
            "explanation, which is in the list below"
            + (f"; {plural(in_part, 'is', 'are')} explained in part." if in_part else ".")
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


def ratios(results: Results, check: Check) -> Table:
    """Of Table 2, in one line for each model."""
    found: dict[str, dict[str, float]] = {}
    at_most: Counter[str] = Counter()
    for one in check.numbers:
        if one.table == "base" and one.comparable and one.ratio is not None:
            found.setdefault(one.column, {})[one.row] = one.ratio
            at_most[one.column] += one.at_most_the_papers

    def extreme(of: Callable[..., str], model: str) -> str:
        dataset = of(found[model], key=found[model].__getitem__)
        return f"{show(found[model][dataset], 3)} ({dataset_label(dataset)})"

    return Table.of(
        "ratios",
        "Table 2 on the comparable datasets: our error relative to the paper's, as exactly as the "
        "paper prints it. An error counts as equal if the paper's digits allow it.",
        [model for model in results.models if model in found],
        {
            "Model": lambda model: model_style(model).label,
            "Datasets": lambda model: number(len(found[model]), 0),
            "Below the paper's": lambda model: number(
                sum(ratio < 1 for ratio in found[model].values()), 0
            ),
            "Below or equal": lambda model: number(at_most[model], 0),
            "Lowest": lambda model: extreme(min, model),
            "Median": lambda model: number(median(found[model].values()), 3),
            "Highest": lambda model: extreme(max, model),
        },
        cards=True,
    )


def all_numbers(results: Results, check: Check) -> Table:
    """Differences first, the largest first."""
    order = ("worse", "differs", "better", "matches", "agrees", "not comparable", "missing")

    def key(compared: Compared) -> tuple[int, float]:
        size = abs((compared.ratio or 1.0) - 1.0)
        return order.index(compared.verdict), -size

    def dataset(compared: Compared) -> Cell | str:
        return HYPERPARAMETERS.get(compared.row) or name_cell(results, compared.row)

    return Table.of(
        "numbers",
        "Every number of Tables 1 to 6, differences first. A verdict opens to show its reason. "
        "Errors of Table 2 are also shown relative to the linear mixed model's (LME) on the same "
        "rows, which takes out the effect of the split. Table 4 prints the same errors "
        "once more, rounded in another way: a ratio is to the error that both leave possible.",
        sorted(check.numbers, key=key),
        {
            "Verdict": verdict_cell,
            "Table": lambda one: table_number(results, one),
            "Dataset": dataset,
            "Cell": column_label,
            "Ours": lambda one: number(one.ours, decimals(one)),
            "Paper": lambda one: number(one.paper, decimals(one)),
            "Ratio": lambda one: number(one.ratio, 2),
            "Allowed ±": lambda one: Cell(short(one.allowed), one.allowed),
            "Ours / LME": lambda one: number(one.by_lme, 3),
            "Paper / LME": lambda one: number(one.paper_by_lme, 3),
        },
        filters=(
            Filter("table", "Table", 1),
            Filter("dataset", "Dataset", 2),
            Filter("verdict", "Verdict", 0),
        ),
        sortable=True,
        cards=True,
        tall=True,
    )


def verdict_cell(compared: Compared) -> Cell:
    """It opens to the note with its evidence, and why the tolerance is what it is."""
    evidence = f"Evidence: {compared.command}." if compared.command else ""
    allowed = f"The tolerance: {compared.reason}."
    why = " ".join(filter(None, (compared.note, evidence, allowed)))
    return Cell(compared.verdict, chip=TONES.get(compared.verdict, "grey"), why=why)


def table_number(results: Results, compared: Compared) -> str:
    return results.paper.tables[compared.table].title.partition(":")[0]


def decimals(compared: Compared) -> int | None:
    """Counts are shown in full, everything else with three digits."""
    both = (compared.ours or 0.0, compared.paper)
    return 0 if all(float(value).is_integer() for value in both) else None


def column_label(compared: Compared) -> str:
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
    if compared.table == "datasets":
        return COLUMNS[first][0]
    return {"low": "lowest", "high": "highest"}[first]


def rankings(results: Results, check: Check) -> Table:
    return Table.of(
        "rankings",
        "Table 3's other finding: pairs of networks where every training of the first has a lower "
        "error than all of the second, on the comparable datasets.",
        check.rankings,
        {
            "Dataset": lambda one: name_cell(results, one.dataset),
            "In the paper": lambda one: pairs_of(one.paper),
            "Here": lambda one: pairs_of(one.ours),
            "The same": lambda one: number(len(one.kept), 0),
            "Reversed": lambda one: number(len(one.reversed), 0),
        },
        cards=True,
    )


def pairs_of(pairs: Sequence[Pair]) -> str:
    """Such as "LC < CS, LC < LL"."""
    return ", ".join(" < ".join(model_style(one).label for one in pair) for pair in pairs) or "none"


def sentences(check: Check) -> Table:
    counted = " ".join(
        f"On {which} datasets: "
        + ", ".join(f"{n} {name}" for name, n in found.items() if n).replace("holds", "hold")
        + "."
        for which, found in (
            ("comparable", outcome_counts(check.sentences)),
            ("all", outcome_counts(check.sentences, every=True)),
        )
    )
    return Table.of(
        "sentences",
        "The paper's sentences as checks, applied to our numbers and to those that the paper "
        "prints; one that says two things is two checks. Where the paper shows a figure and no "
        f"number, its word is taken for it. {counted}",
        check.sentences,
        {
            "Section": lambda judged: judged.sentence.section,
            "The paper says": lambda judged: f"“{judged.sentence.quote}”",
            "Comparable datasets": lambda judged: outcome_cell(judged.comparable),
            "All datasets": lambda judged: outcome_cell(judged.every),
            "Evidence here": lambda judged: text(judged.ours.evidence),
            "How it is tested": lambda judged: judged.sentence.criterion,
        },
        cards=True,
    )


def outcome_cell(compared: Comparison) -> Cell:
    why = f"Here: {compared.ours.evidence} In the paper: {compared.paper.evidence}"
    return Cell(compared.outcome, chip=OUTCOME_TONES.get(compared.outcome, "grey"), why=why)
