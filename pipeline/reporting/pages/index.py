"""Findings: the verdict, the findings as cards, the main table, what was run and how to go on."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean, median

from matplotlib.axes import Axes

from pipeline.reporting import drawing, labels, numbers, site, times
from pipeline.reporting.blocks import DASH, Card, Cards, Cell, Drawing, Table, Text, missing, prose
from pipeline.reporting.cells import dataset_table, number
from pipeline.reporting.checking import Check
from pipeline.reporting.formatting import duration, listed, percent, plural, show, signed
from pipeline.reporting.pages import arena, sizes
from pipeline.reporting.pages import check as check_page
from pipeline.reporting.paper import COMPARED
from pipeline.reporting.results import Results
from pipeline.reporting.sentences import Judged, Outcome, outcome_counts
from pipeline.reporting.story import Story
from pipeline.reporting.svg import GRID, PAPER, SOFT
from pipeline.reporting.verdicts import Compared
from pipeline.settings import load
from pipeline.studies import clean
from pipeline.studies.framework.plans import width_range

MOSTLY, LARGELY = 0.9, 0.7
NOT_IN_BOTH: tuple[Outcome, ...] = ("only in the paper", "only here", "in neither")
STATUS: dict[Outcome, tuple[str, str]] = {
    "holds in both": ("Reproduced", "good"),
    "only in the paper": ("Not reproduced", "bad"),
    "only here": ("Holds here, not in the paper's own table", "grey"),
    "in neither": ("Holds in neither", "grey"),
    "cannot be judged": ("Cannot be judged yet", "grey"),
}
FOUND_HERE = ("Found here", "good")
SMALL_GAP = 0.14  # between the labels of a small figure


def story(results: Results, check: Check) -> Story:
    base, agree, judged = numbers.base(results), check.agreeing, check.judged
    outcomes = outcome_counts(check.sentences)
    decided = len(check.sentences) - outcomes["cannot be judged"]
    if not base or not judged:
        return Story("There are no results to compare yet", f"{len(base)} datasets have results.")
    share = agree / judged
    verdict = "The paper's results hold up" + ("" if share >= MOSTLY else " in part")
    if LARGELY <= share < MOSTLY:
        verdict = "Most of the paper's results hold up"
    not_run = [labels.dataset_label(d) for d in results.datasets if d not in base]
    holding = [one for one in check.sentences if one.comparable.outcome == "holds in both"]
    figures = sum(one.comparable.paper.ruling == "cannot be judged" for one in holding)
    return Story(
        f"{verdict}: of {judged} comparable results {check_page.counted(check, compared=True)}",
        f"We ran every experiment of the paper on {plural(len(base), 'dataset')} and compared the "
        f"{sum(check.results.values())} results of its tables: {check_page.counted(check)}. Of "
        f"{plural(len(check.sentences), 'sentence')} of the paper, {decided} can be tested on "
        f"comparable data: {plural(len(holding), 'holds', 'hold')} here and in the paper"
        + (f" ({figures} of them by its figures, not its tables)" if figures else "")
        + "".join(f", {outcomes[name]} {name}" for name in NOT_IN_BOTH if outcomes[name])
        + " ([all of them](#the-paper-s-claims-one-by-one))."
        + (f" Not run: {listed(not_run)}." if not_run else ""),
    )


def caveat(results: Results) -> str:
    took = times.load(results)
    ran = f"To fit into {duration(took.total)} of processor time ({took.machine}), " if took else ""
    other = [d for d in results.datasets if results.difference(d)]
    _, high = width_range(results.settings)
    wide = results.settings.params.space.width[1]
    epochs, paper_epochs = _most_epochs(results)
    limits = ["trainings have fewer epochs than the paper's"] if epochs < paper_epochs else []
    if high < wide:
        limits.append(f"hidden layers have at most {high} units instead of {wide}")
    text = f"{ran}{', and '.join(limits)}." if limits else ""
    if other:
        near, far = (
            [labels.dataset_label(d) for d in other if bool(results.comparable(d)) is wanted]
            for wanted in (True, False)
        )
        text += (
            f" {plural(len(other), 'dataset is', 'datasets are')} not the paper's own files (†, "
            "see the [glossary](data.html#glossary))"
            + (f"; {listed(near)} can be compared all the same" if near else "")
            + (f"; {listed(far)} cannot" if far else "")
            + "."
        )
    text = text.strip()
    return text[:1].upper() + text[1:]


def _most_epochs(results: Results) -> tuple[int, int]:
    """Of the longest trainings: here, and by the paper's profile."""
    profiles = (results.settings.profile, load(results.files, "paper").profile)
    here, paper = (max(budget.epochs for budget in one.train.budget) for one in profiles)
    return here, paper


# -- the findings ---------------------------------------------------------------------------------


def reproduced(results: Results, check: Check) -> Cards:
    """The paper's main claims on the datasets that can be compared."""
    judged = {one.sentence.name: one for one in check.sentences}
    cards = (
        _fewer_parameters(results, judged),
        _little_data(results, judged, [c for c in check.numbers if c.verdict == "worse"]),
        _new_tasks(results, judged),
    )
    return Cards([card for card in cards if card])


def beyond(results: Results) -> Cards:
    """What the paper does not have."""
    cards = (_optimiser(results), _leak(results), _arena(results))
    return Cards([card for card in cards if card])


def _comparable(results: Results) -> list[str]:
    """The datasets that the paper's claims are tested on; all, where none is the paper's."""
    return [d for d in results.datasets if results.comparable(d)] or list(results.datasets)


def _fewer_parameters(results: Results, judged: Mapping[str, Judged]) -> Card | None:
    kept = _comparable(results)
    curves = {d: models for d, models in numbers.dimension(results).items() if d in kept}
    both, fewest, better = numbers.lc_and_ll(curves)
    if not both:
        return None
    counted = sorted(set.intersection(*(set(m["lc"]) & set(m["ll"]) for m in both.values())))
    ahead = [d for d, m in both.items() if counted and m["lc"][counted[-1]] < m["ll"][counted[-1]]]

    def paint(axes: Axes) -> None:
        means = {
            model: {d: median(m[model][d] for m in both.values()) for d in counted}
            for model in numbers.WITH_DIMENSION
        }
        drawing.plot_models(axes, means)
        drawing.log_ticks(axes, counted, [str(count) for count in counted])
        axes.set(xlabel="task parameters", ylabel="median error / LC's")
        drawing.label_models(axes, means, SMALL_GAP)

    return Card(
        "With few task parameters, learned context beats last layer",
        *STATUS[judged["fewer_needed"].comparable.outcome],
        f"{len(better)} of {len(both)}",
        "comparable datasets where it is better with "
        f"{plural(min(fewest.values()), 'task parameter')}",
        "A task parameter is one learned number that describes a task."
        + (
            f" With {counted[-1]} of them it is better on {len(ahead)}: the gap closes, as in the "
            "paper."
            if counted and judged["gap_closes"].ours.ruling == "holds"
            else ""
        ),
        "dimension.html",
        drawing.sparkline(
            "card_dimension",
            "Median error by number of task parameters, LC and LL, relative to LC in Table 2",
            paint,
        )
        if counted
        else None,
    )


def _little_data(
    results: Results, judged: Mapping[str, Judged], worse: Sequence[Compared]
) -> Card | None:
    least, lost, count = sizes.losses(results, _comparable(results))
    above = [labels.dataset_label(c.row) for c in worse if c.column == f"lc {least}"]
    if "lc" not in lost:
        return None
    ordered = {
        labels.model_style(m): rise for m, rise in sorted(lost.items(), key=lambda item: item[1])
    }

    def paint(axes: Axes) -> None:
        rises = {style.label: rise for style, rise in ordered.items()}
        drawing.bars(axes, rises, [style.colour for style in ordered], 3)
        axes.margins(x=0.18)
        axes.set_xlabel("rise of error / std")

    return Card(
        "It loses least when there is little data",
        *STATUS[judged["lc_loses_least"].comparable.outcome],
        signed(lost["lc"], 3),
        f"mean rise of learned context's error from all rows to {percent(least)} of them, in "
        "standard deviations of the target",
        "The other networks: "
        + listed(
            [f"{labels.model_style(m).label} {signed(v, 3)}" for m, v in lost.items() if m != "lc"]
        )
        + f", over {plural(count, 'comparable dataset')}."
        + (
            f" Its own error there is above the paper's on {listed(above)}; below is why."
            if above
            else ""
        ),
        "sizes.html",
        drawing.sparkline("card_sizes", "Rise of the error with less data, by model", paint),
    )


def _new_tasks(results: Results, judged: Mapping[str, Judged]) -> Card | None:
    """By LIPO, as in the paper, where it was run."""
    kept, found = _comparable(results), numbers.holdout(results)
    errors = {
        name: {d: e for d, e in numbers.best_errors(found, name).items() if d in kept}
        for name in labels.ESTIMATORS
    }
    best = errors["lipo"] or errors["gauss_newton"]
    if not best:
        return None
    near = [d for d, ratio in best.items() if ratio < numbers.GOOD_ENOUGH]
    other = sum(ratio < numbers.GOOD_ENOUGH for ratio in errors["gauss_newton"].values())

    def paint(axes: Axes) -> None:
        order = sorted(best, key=lambda dataset: best[dataset])
        colours = [labels.BLUE if d in near else labels.GREY for d in order]
        axes.bar(range(len(order)), [best[d] for d in order], color=colours, width=0.7)
        axes.axhline(numbers.GOOD_ENOUGH, color=labels.ORANGE, linewidth=0.9)
        axes.set_xticks([])
        axes.set(xlabel="datasets", ylabel="error / trained")
        axes.grid(axis="x", visible=False)
        limit = f"+{percent(numbers.GOOD_ENOUGH - 1)}"
        drawing.label_ends(axes, [(numbers.GOOD_ENOUGH, limit, labels.ORANGE)])

    return Card(
        "A frozen network learns new tasks",
        *STATUS[judged["below_twenty"].comparable.outcome],
        f"{len(near)} of {len(best)}",
        "comparable datasets where new tasks come within "
        f"{percent(numbers.GOOD_ENOUGH - 1)} of the error of training with them, with the best "
        "number of task parameters",
        "Only the new task's few parameters are estimated; no other prediction changes. "
        + (
            f"These are LIPO's, as in the paper; Gauss-Newton comes as near on {other}."
            if errors["lipo"]
            else "These are Gauss-Newton's."
        ),
        "holdout.html",
        drawing.sparkline("card_holdout", "Error of new tasks relative to full training", paint),
    )


def _optimiser(results: Results) -> Card | None:
    kept, found = _comparable(results), numbers.holdout(results)
    lines: dict[str, dict[int, float]] = {}
    for name in labels.ESTIMATORS:
        rows = [r for d, r in numbers.on_all_rows(found, name).items() if d in kept]
        counted = sorted(set.intersection(*map(set, rows))) if rows else []
        if len(counted) < 2:
            return None
        lines[name] = {c: fmean(r[c] / r[counted[0]] for r in rows) for c in counted}
    counts = list(lines["lipo"])
    lipo, gauss = (list(lines[name].values())[-1] for name in ("lipo", "gauss_newton"))

    def paint(axes: Axes) -> None:
        ends = []
        for name, colour in (("lipo", labels.ORANGE), ("gauss_newton", labels.BLUE)):
            points = lines[name]
            axes.plot(list(points), list(points.values()), marker="o", color=colour)
            ends.append((list(points.values())[-1], labels.ESTIMATORS[name], colour))
        ticks = sorted({count for points in lines.values() for count in points})
        drawing.log_ticks(axes, ticks, [str(tick) for tick in ticks])
        axes.set(xlabel="task parameters", ylabel=f"error / with {counts[0]}")
        drawing.label_ends(axes, ends, SMALL_GAP)

    return Card(
        _optimiser_claim(lipo, gauss),
        *FOUND_HERE,
        f"{signed(100 * (gauss - 1), 0)}%",
        f"mean change of new tasks' error from {counts[0]} to {counts[-1]} task parameters, fitted "
        f"by Gauss-Newton; {signed(100 * (lipo - 1), 0)}% by LIPO",
        "The paper fits new tasks with LIPO, a global search, and advises few task parameters for "
        "them. On the same networks, rows and objective LIPO stops above the optimum as the number "
        "grows; Gauss-Newton, which uses derivatives, does not.",
        "holdout.html#optimisers",
        drawing.sparkline("card_optimiser", "Error of new tasks by dimension and optimiser", paint),
    )


def _optimiser_claim(lipo: float, gauss: float) -> str:
    """Of the error with most task parameters / with fewest, by the two optimisers."""
    if gauss > 1.05 or gauss >= lipo:
        return "The optimiser decides how much more task parameters hurt new tasks"
    if lipo > 1.05:
        return "More task parameters do not hurt new tasks once the optimiser is good"
    return "With a good optimiser, new tasks gain from more task parameters"


def _leak(results: Results) -> Card | None:
    retrained = {
        d: r.models["lc"] for d, r in results.found(clean.STUDY).items() if "lc" in r.models
    }
    base, infos = numbers.references(results), results.infos()
    dataset = next((d for d in retrained if d in base and d in infos), None)
    if dataset is None:
        return None
    errors = {"official split": base[dataset], "without them": retrained[dataset].rmse}
    info, ratio = infos[dataset], retrained[dataset].rmse / base[dataset]

    def paint(axes: Axes) -> None:
        drawing.bars(axes, errors, [labels.GREY, labels.BLUE], 2)
        axes.margins(x=0.2)
        axes.set_xlabel(labels.with_unit("LC's test error", info.unit))

    return Card(
        f"{labels.dataset_label(dataset)}’ official test rows are in its training file",
        *FOUND_HERE,
        percent(info.rows.leaked / info.rows.test),
        f"of {show(info.rows.test, 0)} test rows are training rows too, ours included",
        f"Without them, the LC network's error is {show(ratio, 2)} times as high. Any error on the "
        "official split, the paper's included, is measured on rows that were trained on.",
        "data.html#leakage",
        drawing.sparkline("card_leak", "LC's error with and without the leaked rows", paint),
    )


def _arena(results: Results) -> Card | None:
    found = arena.load(results)
    place = found and arena.standing(found, found.known)
    if not found or not place:
        return None
    titles, ours, first = arena.titles(found), arena.ours(found), place[1]
    standings = found.known.standings
    other = next(one for one in standings if one.contestant not in ours)
    new = [there[1] for table in found.new.values() if (there := arena.standing(found, table))]
    wins = [one.best / one.datasets for one in new]
    behind = bool(wins) and max(wins) < first.best / first.datasets

    def paint(axes: Axes) -> None:
        shown = {titles[one.contestant]: one.mean_rank for one in standings[:5]}
        colours = [labels.BLUE if s.contestant in ours else labels.GREY for s in standings[:5]]
        drawing.bars(axes, shown, colours, 1)
        axes.margins(x=0.18)
        axes.set_xlabel("mean rank, lower is better")

    return Card(
        "The estimator is ahead of other methods on many small tasks"
        if place[0] == 1
        else "The estimator against other methods",
        *FOUND_HERE,
        show(first.mean_rank, 1),
        f"its mean rank among {len(standings)} methods on {plural(first.datasets, 'dataset')}; "
        f"next is {titles[other.contestant]} with {show(other.mean_rank, 1)}",
        "The library's LearnedContextRegressor against boosted trees, mixed models and other "
        "networks, all with their defaults. It has the lowest error on "
        f"{first.best} of {plural(first.datasets, 'dataset')} with known tasks"
        + ("; with new tasks others win more often, which the arena lists." if behind else "."),
        "arena.html",
        drawing.sparkline("card_arena", "Mean ranks of the first five methods", paint),
    )


# -- the paper's claims ---------------------------------------------------------------------------


def claims(check: Check) -> Table:
    """Every sentence of the paper that was tested; those that do not hold in both come first."""
    order = [*NOT_IN_BOTH, "cannot be judged", "holds in both"]
    return Table.of(
        "claims",
        "The paper's sentences, tested on the comparable datasets. A verdict opens to show its "
        "evidence.",
        sorted(check.sentences, key=lambda one: order.index(one.comparable.outcome)),
        {
            "The paper says": lambda one: f"“{one.sentence.quote}”",
            "Section": lambda one: one.sentence.section,
            "It holds": lambda one: check_page.outcome_cell(one.comparable),
        },
    )


# -- the main result ------------------------------------------------------------------------------


def main_table(results: Results, check: Check) -> Table:
    verdicts = {compared.cell: compared for compared in check.numbers}
    base = numbers.base(results)
    shown = [m for m in results.models if m in COMPARED]

    def cells(dataset: str) -> Iterator[Cell]:
        for model in shown:
            compared = verdicts.get(f"base/{dataset}/{model}")
            if compared:
                yield from (number(compared.ours, 3, compared.paper), _verdict(compared))
            else:  # a user's own dataset
                yield from (number(base.get(dataset, {}).get(model), 3), DASH)

    return dataset_table(
        results,
        "errors",
        "Test errors of the three multi-task networks (Table 2). A verdict with a mark opens to "
        "show its reason; “at or below” counts as a match.",
        ("Error", "Verdict"),
        cells,
        groups=[f"{style.label}, {style.title}" for style in map(labels.model_style, shown)],
    )


def _verdict(compared: Compared) -> Cell:
    """It opens where there is something to explain."""
    cell = check_page.verdict_cell(compared)
    if compared.bound and compared.verdict == "matches":
        return replace(cell, text="at or below", why=compared.reason)
    return cell if compared.is_open else replace(cell, why="")


def ratios(results: Results, check: Check) -> Drawing | Text:
    found = {c.cell: c for c in check.numbers if c.table == "base" and c.ratio is not None}
    shown = [m for m in results.models if m in COMPARED]
    datasets = [d for d in results.datasets if any(f"base/{d}/{m}" in found for m in shown)]
    if not datasets:
        return missing("Our errors relative to the paper's need results/train.")
    band = next(t.relative for t in results.paper.tolerances if t.cells == "base/*")

    def paint(axes: Axes) -> None:
        axes.axvspan(1 - band, 1 + band, color=GRID, zorder=0)
        axes.axvline(1, color=SOFT, linewidth=0.9, linestyle=":")
        values = []
        for offset, model in zip((-0.22, 0, 0.22), shown, strict=False):
            style = labels.model_style(model)
            for place, dataset in enumerate(datasets):
                compared = found.get(f"base/{dataset}/{model}")
                if compared and compared.ratio:
                    values.append(compared.ratio)
                    fill = style.colour if compared.comparable else PAPER
                    axes.plot(
                        compared.ratio, place + offset, style.marker, color=style.colour,
                        markerfacecolor=fill, markersize=5,
                    )  # fmt: skip
        drawing.labelled_rows(axes, [results.label(dataset) for dataset in datasets])
        axes.set_xlim(min(0.7, *values) / 1.15, max(1.4, *values) * 1.15)
        drawing.log_scale(axes.xaxis)
        axes.set_xlabel("our error / the paper's   (left of 1: ours is lower)")

    return drawing.picture(
        "ratios",
        f"Our test error relative to the paper's (Table 2). The band is ±{percent(band)}, the "
        "tolerance of most numbers beside the rounding of the paper's. Open marks: other data, not "
        "comparable.",
        paint,
        size=(drawing.WIDE, 0.8 + 0.32 * len(datasets)),
        legend=drawing.legend_of(shown, line=""),
    )


def what_differs(check: Check) -> str:
    """In words, above the list."""
    differing = [c for c in check.numbers if c.is_open and c.kind == "result"]
    if not differing:
        return "No comparable result differs from the paper's by more than its tolerance."
    verdicts = Counter(c.verdict for c in differing)
    worse, better, below = (verdicts[name] for name in ("worse", "better", "matches"))
    unexplained = sum(c.unexplained for c in differing)
    partly = sum(c.in_part for c in differing)
    explained = (
        f"{plural(unexplained, 'has', 'have')} no explanation yet."
        if unexplained
        else "Each has an explanation, with the page that shows the evidence"
        + (f"; {plural(partly, 'is', 'are')} explained in part." if partly else ".")
    )
    return (
        f"Of {check.judged} comparable results, {worse + better} differ by more than their "
        f"tolerance: {plural(worse, 'is', 'are')} worse and {better} better. "
        + (
            f"{below} more match because the paper's error is an upper bound, and are below it by "
            "more than the tolerance. "
            if below
            else ""
        )
        + f"{explained} The test "
        "rows, the seeds and the length of the trainings are not the paper's; [Budget and "
        "data](budget.html) measures what that does. Below: every worse result, then the others "
        "of Table 2. The [paper check](check.html#every-number) has all "
        f"{len(check.numbers)} printed numbers, inputs such as sizes and ranges among them, and "
        "the tolerance of each."
    )


DIFFERENCES = ("worse", "differs", "better", "matches")
"""What the list has, in this order; a match only if it is far below an upper bound."""


def differences(results: Results, check: Check) -> Table:
    """Worse results first; numbers of one dataset with one explanation are together."""
    groups: dict[tuple[str, str, str, str, str], list[str]] = {}
    shown = [c for c in check.numbers if c.is_open and (c.verdict == "worse" or c.table == "base")]
    for c in sorted(shown, key=lambda c: DIFFERENCES.index(c.verdict)):
        table = check_page.table_number(results, c)
        ours, paper = (show(v, check_page.decimals(c)) for v in (c.ours or 0.0, c.paper))
        said = f"{check_page.column_label(c)}: {ours} (paper {paper})"
        key = (c.verdict, table, results.label(c.row), c.note, c.command)
        groups.setdefault(key, []).append(said)
    rows = [
        [
            Cell(verdict, chip=check_page.TONES[verdict]),
            Cell(row),
            Cell(table),
            Cell("; ".join(said)),
            Cell(note or "Not explained yet."),
            _evidence(results, command),
        ]
        for (verdict, table, row, note, command), said in groups.items()
    ]
    return Table(
        "differences",
        "Results that are worse or better than the paper's beyond their tolerance, or as far below "
        "an upper bound, and why."
        if rows
        else "No result of Table 2 differs and none is worse.",
        ("Verdict", "Dataset", "Table", "Ours and the paper's", "Why", "Evidence"),
        rows,
        cards=True,
    )


def _evidence(results: Results, command: str) -> Cell:
    """The page that shows what the command prints."""
    found = re.search(r"pipeline report (\w+)", command)
    page = found[1] if found else "budget" if "benchmarks/" in command else "check"
    entries = site.pages(results.files.root)
    return Cell(entries[page].label, address=f"{page}.html") if page in entries else Cell(command)


# -- what was run, and what to do next ------------------------------------------------------------


def what_was_run(results: Results) -> Text:
    settings = results.settings
    profile = settings.profile
    took = times.load(results)
    low, high = width_range(settings)
    wide = settings.params.space.width[1]
    epochs, paper_epochs = _most_epochs(results)
    parts = []
    if took:
        parts.append(
            f"**Time.** {plural(took.stages, 'stage')}, each one study of one dataset and model, "
            f"took {duration(took.total)} of processor time with one thread for each training: "
            f"{duration(took.total / 2)} on two free cores. On the clock it was "
            f"{duration(took.clock_seconds / 2)}, two stages at a time and often beside other "
            "work. The arena and the studies of budget and data are not in these times; "
            "[Reproduce](reproduce.html) has the minutes of every study.\n\n"
            f"**Machine.** {took.machine}, no GPU; the paper used one."
        )
    parts.append(
        "**Budget.** For each dataset and network, LIPO, the paper's search method, tried "
        f"{profile.search.evaluations} settings; the best one was trained for up to "
        f"{show(epochs, 0)} epochs (the paper: {show(paper_epochs, 0)}), {profile.repeats} times "
        "with other seeds, on less data, and with more and fewer task parameters. Hidden layers "
        f"have {low} to {high} units"
        + (f" (the paper: up to {wide})" if high < wide else "")
        + f". These are the numbers of the `{settings.params.profile}` profile."
    )
    parts.append(
        "The [methods](methods.html) list every choice that the paper leaves open; the "
        "[effect of the budget, the rows and the columns](budget.html) was measured."
    )
    return Text(prose("\n\n".join(parts)))


def next_steps() -> Text:
    return Text(
        prose(
            "**See the tasks.** The [explorer](explore.html) shows every task on a map, its data, "
            "and what the network predicts as its parameters move.\n\n"
            "**Use it on your data.** `LearnedContextRegressor` is a scikit-learn estimator for "
            "many related tasks; the [arena](arena.html) compares it with other methods.\n\n"
            "**Check it.** The [paper check](check.html) has all numbers and sentences with their "
            "verdicts; [reproduce](reproduce.html) has the commands, and "
            "`python -m pipeline audit` verifies the committed results in a clone."
        )
    )
