"""Findings: the verdict, the findings as cards, the main table, what was run and how to go on."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean, geometric_mean

from matplotlib.axes import Axes

from pipeline.reporting import drawing, labels, numbers, times
from pipeline.reporting.blocks import Card, Cards, Cell, Drawing, Table, Text, missing, prose
from pipeline.reporting.cells import name_cell, number
from pipeline.reporting.checking import Check
from pipeline.reporting.formatting import duration, listed, percent, plural, show, signed
from pipeline.reporting.pages import arena, dimension, holdout, search, sizes
from pipeline.reporting.pages import check as check_page
from pipeline.reporting.results import Results
from pipeline.reporting.sentences import Judged, Outcome, outcome_counts
from pipeline.reporting.story import Story
from pipeline.reporting.svg import GRID, PAPER, SOFT
from pipeline.studies import clean

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
    return Story(
        f"{verdict}: {agree} of {judged} comparable results match or are better",
        f"We ran every experiment of the paper on {plural(len(base), 'dataset')} and compared the "
        f"{sum(check.results.values())} results of its tables: {check_page.counted(check)}. Of "
        f"{plural(decided, 'sentence')} of the paper that can be tested on comparable data, "
        f"{plural(outcomes['holds in both'], 'holds', 'hold')} here and in the paper's own tables"
        + "".join(f", {outcomes[name]} {name}" for name in NOT_IN_BOTH if outcomes[name])
        + "."
        + (f" Not run: {listed(not_run)}." if not_run else ""),
    )


def caveat(results: Results) -> str:
    took = times.load(results)
    cost = (
        f"All of it ran in {duration(took.total)} of processor time on CPUs: the" if took else "The"
    )
    return (
        f"{cost} trainings are shorter than the paper's. Some datasets are not the paper's own "
        "files (marked †; see the [glossary](data.html#glossary))."
    )


# -- the findings ---------------------------------------------------------------------------------


def findings(results: Results, check: Check) -> Cards:
    """One card for each finding that the results can show."""
    judged = {one.sentence.name: one for one in check.sentences}
    cards = (
        _fewer_parameters(results, judged),
        _little_data(results, judged),
        _new_tasks(results, judged),
        _optimiser(results),
        _leak(results),
        _disagreement(results, check),
    )
    return Cards([card for card in cards if card])


def _status(judged: Judged | None) -> tuple[str, str]:
    outcome = judged.comparable.outcome if judged else "cannot be judged"
    return STATUS[outcome]


def _fewer_parameters(results: Results, judged: Mapping[str, Judged]) -> Card | None:
    both, fewest, better = numbers.lc_and_ll(numbers.dimension(results))
    if not both:
        return None
    closes = "gap_closes" in judged and judged["gap_closes"].ours.ruling == "holds"
    counted = sorted(set.intersection(*(set(m["lc"]) & set(m["ll"]) for m in both.values())))

    def paint(axes: Axes) -> None:
        means = {
            model: {d: geometric_mean(m[model][d] for m in both.values()) for d in counted}
            for model in ("lc", "ll")
        }
        drawing.plot_models(axes, means)
        drawing.log_ticks(axes, counted, [str(count) for count in counted])
        axes.set(xlabel="task parameters", ylabel="relative error")
        drawing.label_models(axes, means, SMALL_GAP)

    return Card(
        "With few task parameters, learned context beats last layer",
        *_status(judged.get("fewer_needed")),
        f"{len(better)} of {len(both)}",
        f"datasets where it is better with {plural(min(fewest.values()), 'task parameter')}",
        ("With more of them the gap closes. " if closes else "") + dimension.story(results).answer,
        "dimension.html",
        drawing.sparkline(
            "card_dimension", "Mean error by number of task parameters, LC and LL", paint
        )
        if counted
        else None,
    )


def _little_data(results: Results, judged: Mapping[str, Judged]) -> Card | None:
    least, lost, count = sizes.losses(results)
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
        *_status(judged.get("lc_loses_least")),
        signed(lost["lc"], 3),
        f"mean rise of error / std from all rows to {percent(least)} of them",
        "The other networks: "
        + listed(
            [f"{labels.model_style(m).label} {signed(v, 3)}" for m, v in lost.items() if m != "lc"]
        )
        + f", over {plural(count, 'dataset')}.",
        "sizes.html",
        drawing.sparkline("card_sizes", "Rise of the error with less data, by model", paint),
    )


def _new_tasks(results: Results, judged: Mapping[str, Judged]) -> Card | None:
    best = holdout.best_errors(results, "gauss_newton")
    if not best:
        return None
    near = [d for d, ratio in best.items() if ratio < holdout.GOOD_ENOUGH]

    def paint(axes: Axes) -> None:
        order = sorted(best, key=lambda dataset: best[dataset])
        colours = [labels.BLUE if d in near else labels.GREY for d in order]
        axes.bar(range(len(order)), [best[d] for d in order], color=colours, width=0.7)
        axes.axhline(1, color=SOFT, linewidth=0.9, linestyle=":")
        axes.axhline(holdout.GOOD_ENOUGH, color=labels.ORANGE, linewidth=0.9)
        axes.set_xticks([])
        axes.set(xlabel="datasets", ylabel="error / trained")
        axes.grid(axis="x", visible=False)

    return Card(
        "A frozen network learns new tasks",
        *_status(judged.get("below_twenty")),
        f"{len(near)} of {len(best)}",
        f"datasets where a new task comes within {percent(holdout.GOOD_ENOUGH - 1)} of full "
        "training",
        "Only the new task's few parameters are estimated; no other prediction changes.",
        "holdout.html",
        drawing.sparkline("card_holdout", "Error of new tasks relative to full training", paint),
    )


def _optimiser(results: Results) -> Card | None:
    factors = {name: holdout.largest_over_smallest(results, name) for name in labels.ESTIMATORS}
    lipo, gauss = factors["lipo"], factors["gauss_newton"]
    if lipo is None or gauss is None:
        return None
    lines: dict[str, dict[int, float]] = {}
    for name in labels.ESTIMATORS:
        rows = list(holdout.at_all_rows(results, name).values())
        counted = sorted(set.intersection(*map(set, rows)))
        lines[name] = {c: fmean(r[c] / r[counted[0]] for r in rows) for c in counted}

    def paint(axes: Axes) -> None:
        ends = []
        for name, colour in (("lipo", labels.ORANGE), ("gauss_newton", labels.BLUE)):
            points = lines[name]
            axes.plot(list(points), list(points.values()), marker="o", color=colour)
            ends.append((list(points.values())[-1], labels.ESTIMATORS[name], colour))
        ticks = sorted({count for points in lines.values() for count in points})
        drawing.log_ticks(axes, ticks, [str(tick) for tick in ticks])
        axes.set(xlabel="task parameters", ylabel="relative error")
        drawing.label_ends(axes, ends, SMALL_GAP)

    return Card(
        _optimiser_claim(lipo, gauss),
        *FOUND_HERE,
        f"{show(lipo, 2)} → {show(gauss, 2)}",
        "mean error with most / with fewest task parameters: LIPO, then Gauss-Newton",
        "The paper advises a small task space for new tasks. On the same networks and objective, "
        "LIPO stops above the optimum as the dimension grows; Gauss-Newton does not.",
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
        f"of {show(info.rows.test, 0)} test rows are training rows too",
        f"Without them, the LC network's error is {show(ratio, 2)} times as high. Every published "
        "error on this split, the paper's included, is measured on rows that were trained on.",
        "data.html#leakage",
        drawing.sparkline("card_leak", "LC's error with and without the leaked rows", paint),
    )


def _disagreement(results: Results, check: Check) -> Card | None:
    differing = [c for c in check.numbers if c.is_open and c.kind == "result"]
    if not check.judged:
        return None
    ratios = [c.ratio for c in check.numbers if c.ratio and c.table == "base" and c.comparable]

    def paint(axes: Axes) -> None:
        axes.axvspan(0.9, 1.1, color=GRID, zorder=0)
        axes.axvline(1, color=SOFT, linewidth=0.9, linestyle=":")
        ordered = sorted(ratios)
        axes.plot(ordered, range(len(ordered)), "o", color=labels.BLUE, markersize=3)
        drawing.log_scale(axes.xaxis)
        axes.set_yticks([])
        axes.set(xlabel="our error / the paper's", ylabel="numbers of Table 2")

    open_ones = sum(c.unexplained for c in differing)
    explained = f"{plural(len(differing) - open_ones, 'has', 'have')} an explanation"
    other = [labels.dataset_label(d) for d in results.datasets if results.comparable(d) is False]
    return Card(
        "Where our numbers and the paper's differ",
        "Explained" if not open_ones else "Partly open",
        "grey" if not open_ones else "bad",
        show(len(differing), 0),
        f"of {check.judged} comparable results are better or worse beyond tolerance; {explained}",
        (
            f"{plural(open_ones, 'is', 'are')} not explained yet."
            if open_ones
            else "The list below and the paper check give the reason for each."
        )
        + (f" Not compared, because the data differ: {listed(other)}." if other else ""),
        "check.html?numbers.verdict=worse#every-number",
        drawing.sparkline("card_ratios", "Our errors relative to the paper's, Table 2", paint)
        if ratios
        else None,
    )


# -- the main result ------------------------------------------------------------------------------


def main_table(results: Results, check: Check) -> Table:
    verdicts = {compared.cell: compared for compared in check.numbers}
    base = numbers.base(results)
    shown = [m for m in results.models if m in ("lc", "cs", "ll")]
    rows = []
    for dataset in results.datasets:
        row = [name_cell(results, dataset)]
        for model in shown:
            compared = verdicts.get(f"base/{dataset}/{model}")
            if compared is None:  # a user's own dataset
                row += [number(base.get(dataset, {}).get(model), 3), Cell("–")]
                continue
            row += [number(compared.ours, 3, compared.paper), check_page.verdict_cell(compared)]
        rows.append(row)
    return Table(
        "errors",
        "Test errors of the three multi-task networks (Table 2). A verdict opens to show its "
        "reason.",
        ("Dataset", *(part for _ in shown for part in ("Error", "Verdict"))),
        rows,
        groups=[("", 1), *((f"{s.label}, {s.title}", 2) for s in map(labels.model_style, shown))],
    )


def ratios(results: Results, check: Check) -> Drawing | Text:
    found = {c.cell: c for c in check.numbers if c.table == "base" and c.ratio is not None}
    shown = [m for m in results.models if m in ("lc", "cs", "ll")]
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
        "tolerance of most numbers. Open marks: other data, not comparable.",
        paint,
        size=(drawing.WIDE, 0.8 + 0.32 * len(datasets)),
        legend=drawing.legend_of(shown, line=""),
    )


def differences(results: Results, check: Check, most: int = 8) -> Table:
    """The differences with their explanations: numbers of one dataset and note together."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for c in check.numbers:
        if c.is_open:
            table = check_page.table_number(results, c)
            ours, paper = (show(v, check_page.decimals(c)) for v in (c.ours or 0.0, c.paper))
            said = f"{check_page.column_label(c)}: {ours} (paper {paper})"
            row = labels.HYPERPARAMETERS.get(c.row) or results.label(c.row)
            groups.setdefault((table, row, c.note), []).append(said)
    explained_first = sorted(groups.items(), key=lambda group: not group[0][2])
    rows = [
        [Cell(table), Cell(row), Cell("; ".join(said)), Cell(note or "Not explained yet.")]
        for (table, row, note), said in explained_first[:most]
    ]
    left = len(groups) - len(rows)
    return Table(
        "differences",
        "Numbers that are better, worse or different beyond their tolerance, and why."
        if rows
        else "No number is better, worse or different beyond its tolerance.",
        ("Table", "Dataset or setting", "Ours and the paper's", "Why"),
        rows,
        notes=(f"{left} more on the page Paper check.",) if left > 0 else (),
        cards=True,
    )


# -- what was run, and what to do next ------------------------------------------------------------


def what_was_run(results: Results) -> Text:
    settings = results.settings
    profile = settings.profile
    took = times.load(results)
    low, high = search.width_range(results)
    wide = settings.params.space.width[1]
    epochs = max(budget.epochs for budget in profile.train.budget)
    parts = []
    if took:
        parts.append(
            f"All of it took **{duration(took.total)} of processor time** on "
            f"{listed(took.machines)}, one thread for each training: "
            f"at least {duration(took.total / 2)} on two cores. The paper used a GPU. "
            f"The budgets are those of the `{settings.params.profile}` profile."
        )
    parts.append(
        f"For each dataset and network, LIPO tried {profile.search.evaluations} settings; the best "
        f"one was trained for up to {show(epochs, 0)} epochs, {profile.repeats} times with other "
        "seeds, on less data, and with more and fewer task parameters. "
        f"Hidden layers have {low} to {high} units, "
        + (f"where the paper allows {wide}." if high < wide else "as in the paper.")
    )
    parts.append(
        "The [methods](methods.html) list every choice that the paper leaves open; the "
        "[effect of the budget and of the split](budget.html) was measured."
    )
    return Text(prose("\n\n".join(parts)))


def next_steps(results: Results) -> Text:
    found = arena.load(results)
    outcome = f": {arena.story(found).title}" if found else ""
    return Text(
        prose(
            "**See the tasks.** The [explorer](explore.html) shows every task on a map, its data, "
            "and what the network predicts as its parameters move.\n\n"
            "**Use it on your data.** `LearnedContextRegressor` is a scikit-learn estimator for "
            "many related tasks; the [arena](arena.html) compares it with other methods"
            f"{outcome}.\n\n"
            "**Check it.** The [paper check](check.html) has all numbers and sentences with their "
            "verdicts; [reproduce](reproduce.html) has the commands, and "
            "`python -m pipeline audit` verifies the committed results in a clone."
        )
    )
