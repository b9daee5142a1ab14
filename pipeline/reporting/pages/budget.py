"""Budget and data: what the shorter trainings and the choice of rows and columns do."""

from __future__ import annotations

from functools import partial

import numpy as np
from matplotlib.axes import Axes

from pipeline.checked import Checked, Count, Error
from pipeline.reporting.blocks import Cell, Drawing, Mark, Table, Text, missing
from pipeline.reporting.cells import number
from pipeline.reporting.drawing import WIDE, draw, labelled_rows, log_scale, picture
from pipeline.reporting.formatting import listed, percent, plural, show
from pipeline.reporting.labels import (
    BLUE,
    FEATURES,
    GREEN,
    LINEAR,
    ORANGE,
    PURPLE,
    dataset_label,
    model_style,
)
from pipeline.reporting.results import Results
from pipeline.reporting.story import Story
from pipeline.reporting.svg import SOFT

OURS, PAPER = "workstation", "paper"
RULES = {
    "years": "Whole calendar years",
    "quarters": "Random quarters",
    "two_years": "Blocks of two years",
}
RULE_COLOURS = (BLUE, GREEN, PURPLE)
LIKELY = 2.0
"""Standard deviations between the paper's error and the mean of ours."""


class BudgetRun(Checked, extra="ignore"):
    """One training of benchmarks/paper_budget.py."""

    rmse: Error
    normalised: Error
    train_rmse: Error | None = None
    width: Count | None = None
    epochs: Count
    batches: Count
    cpu_seconds: float


class NetworkCase(Checked, extra="ignore"):
    """One network of the study, which was trained again."""

    dataset: str
    model: str
    fraction: float

    @property
    def name(self) -> str:
        share = "" if self.fraction == 1 else f", {percent(self.fraction)} of the rows"
        return f"{dataset_label(self.dataset)}, {model_style(self.model).label}{share}"


class BudgetCase(NetworkCase):
    unit: str
    paper_prints: Error
    runs: dict[str, BudgetRun]

    def error(self, run: str) -> float:
        """In the unit in which the paper prints it."""
        found = self.runs[run]
        return found.rmse if self.unit == "rmse" else found.normalised


class Draws(NetworkCase):
    """One case of benchmarks/draws.py: the same training on other draws of the rows."""

    paper: Error
    ours: Error
    errors: list[Error]


class LinearDraw(Checked, extra="ignore"):
    """One draw of benchmarks/linear_draws.py, with errors relative to the paper's."""

    draw: Count
    lr_ratio: Error
    lme_ratio: Error
    agrees: bool


class ChosenDraw(Checked, extra="ignore"):
    dataset: str
    chosen: LinearDraw
    draws: list[LinearDraw]


class SplitErrors(Checked, extra="ignore"):
    """One model's errors over many splits by one rule."""

    splits: Count
    mean: Error
    std: float
    paper: Error
    deviations: float
    """The paper's error minus the mean, in standard deviations."""


class ColumnSet(Checked, extra="ignore"):
    """Six columns of Bike sharing, of benchmarks/bike_columns.py."""

    columns: list[str]
    linear: dict[str, SplitErrors]
    networks: dict[str, Error]
    """Test errors by model."""

    @property
    def is_likely(self) -> bool:
        """The paper's linear errors are not unusual with these columns."""
        return all(abs(errors.deviations) <= LIKELY for errors in self.linear.values())

    def name(self, own: ColumnSet) -> str:
        """The column that is not the study's, and the one that it replaces."""
        pairs = zip(self.columns, own.columns, strict=True)
        new, old = next((new, old) for new, old in pairs if new != old)
        return f"{_column(new)} instead of {_column(old)}"


class ColumnStudy(Checked, extra="ignore"):
    paper: dict[str, Error]
    sets: list[ColumnSet]

    def ratio(self, one: ColumnSet, model: str) -> float:
        return one.networks[model] / self.paper[model]


class SplitStudy(Checked, extra="ignore"):
    edition: str
    rules: dict[str, dict[str, SplitErrors]]
    errors: dict[str, dict[str, list[float]]]


def cases(results: Results) -> list[BudgetCase]:
    """Where both budgets were tried."""
    found = results.benchmark_cases("paper_budget", BudgetCase)
    return [case for case in found if OURS in case.runs and PAPER in case.runs]


def split_study(results: Results) -> SplitStudy | None:
    return results.benchmark("inflation_splits", SplitStudy)


def column_study(results: Results) -> ColumnStudy | None:
    return results.benchmark("bike_columns", ColumnStudy)


def _column(name: str) -> str:
    return FEATURES["bike_sharing"].get(name, name)


def _not_measured(what: str, script: str) -> Text:
    return missing(f"{what} was not measured yet: `python benchmarks/{script}.py` does it.")


def story(results: Results) -> Story:
    found, study = cases(results), split_study(results)
    changes = [case.error(PAPER) / case.error(OURS) - 1 for case in found]
    answer = []
    title = "Budget and data"
    if changes:
        better, worse = sum(c < -0.02 for c in changes), sum(c > 0.02 for c in changes)
        title = f"The paper's longer trainings change the error by {_range(changes)}"
        answer.append(
            f"{plural(len(found), 'network was', 'networks were')} trained again on the paper's "
            f"number of epochs and batches, with the same settings and seed. The error falls by "
            f"more than 2% in {better} of {plural(len(found), 'case')} and rises in {worse}."
        )
    if study:
        answer.append(_verdict(study))
        title = title if changes else "Which rows are test rows decides Inflation's errors"
    if columns := column_study(results):
        answer.append(_columns_matter(columns))
    return Story(title, " ".join(answer) or "Neither effect was measured yet.")


def _verdict(study: SplitStudy) -> str:
    """How far the paper's errors are from ours, by split rule."""
    far, relative = [], []
    for rule, models in study.rules.items():
        what = RULES.get(rule, rule).lower()
        linear = [abs(one.deviations) for name, one in models.items() if name in LINEAR]
        networks = [one.mean / one.paper for name, one in models.items() if name not in LINEAR]
        if linear:
            far.append(f"{show(max(linear), 1)} with {what}")
        if networks:
            relative.append(f"{_range(networks)} with {what}")
    return (
        "Which of Inflation's rows are test rows: the paper's errors of linear models are, in "
        f"standard deviations, at most this far from our means over many splits: {listed(far)}."
        + (
            f" Our networks' mean errors relative to the paper's: {listed(relative)}."
            if relative
            else ""
        )
    )


def _columns_matter(study: ColumnStudy) -> str:
    likely = [one for one in study.sets if one.is_likely]
    ratios = [
        f"{model_style(model).label} {show(min(found), 2)} to {show(max(found), 2)}"
        for model in study.paper
        if model not in LINEAR
        if (found := [study.ratio(one, model) for one in likely])
    ]
    return (
        "Which six columns of Bike sharing are features, the paper does not say: of "
        f"{plural(len(study.sets), 'set')} that differ in one column at most, {len(likely)} have "
        f"linear errors like the paper's. Relative to the paper's errors, the networks then have: "
        f"{listed(ratios)}."
    )


def _range(changes: list[float]) -> str:
    low, high = percent(min(changes)), percent(max(changes))
    return low if low == high else f"{low} to {high}"


def trainings(results: Results) -> Table | Text:
    found = [(case, *run) for case in cases(results) for run in case.runs.items()]
    if not found:
        return _not_measured("The effect of the budget", "paper_budget")
    return Table(
        "trainings",
        "The same settings and seed on two budgets; what else differs is said. Errors are in the "
        "units of Table 2 (all rows) or of Table 4 (a share of them).",
        (
            *("Network", "Budget", "Width", "Test error", "Ours / printed", "Training error"),
            *("Epochs × batches", "Seconds"),
        ),
        [
            [
                Cell(case.name),
                Cell(name.replace(OURS, "ours", 1).replace(PAPER, "the paper's", 1)),
                number(run.width, 0),
                number(case.error(name), 3, case.paper_prints),
                number(case.error(name) / case.paper_prints, 2),
                number(run.train_rmse, 3),
                Cell(f"{show(run.epochs, 0)} × {show(run.batches, 0)}"),
                number(run.cpu_seconds, 0),
            ]
            for case, name, run in found
        ],
    )


def figure(results: Results) -> Drawing | Text:
    found = cases(results)
    if not found:
        return _not_measured("The effect of the budget", "paper_budget")

    def paint(axes: Axes) -> None:
        for place, case in enumerate(found):
            ours, paper = (case.error(name) / case.paper_prints for name in (OURS, PAPER))
            axes.plot([ours, paper], [place, place], color=SOFT, linewidth=1)
            axes.plot(ours, place, "o", color=BLUE)
            axes.plot(paper, place, "D", color=ORANGE)
        axes.axvline(1, color=SOFT, linewidth=0.9, linestyle=":")
        labelled_rows(axes, [case.name for case in found])
        log_scale(axes.xaxis)
        axes.set_xlabel("error / the error that the paper prints")

    return picture(
        "budgets",
        "Our test error with our budget and with the paper's, relative to the error that the paper "
        "prints.",
        paint,
        size=(WIDE, 0.9 + 0.3 * len(found)),
        legend=[Mark("our budget", BLUE, "o"), Mark("the paper's budget", ORANGE, "D")],
    )


def draws_table(results: Results) -> Table | Text:
    found = results.benchmark_cases("draws", Draws)
    if not found:
        return _not_measured("The luck of the rows", "draws")
    return Table.of(
        "draws",
        "The same settings, budget and seed on other draws of the rows; of the synthetic datasets, "
        "of the data. The study's own draw is the first of them. A number of the paper's that lies "
        "among the errors needs no other explanation.",
        found,
        {
            "Network": lambda case: case.name,
            "Paper": lambda case: number(case.paper, 3),
            "Ours": lambda case: number(case.ours, 3),
            "Lowest": lambda case: number(min(case.errors), 3),
            "Mean": lambda case: number(float(np.mean(case.errors)), 3),
            "Highest": lambda case: number(max(case.errors), 3),
            "Draws": lambda case: number(len(case.errors), 0),
            "Paper's among them": lambda case: (
                "yes" if min(case.errors) <= case.paper <= max(case.errors) else "no"
            ),
        },
        cards=True,
    )


def chosen_draws(results: Results) -> Table | Text:
    found = results.benchmark_cases("linear_draws", ChosenDraw)
    if not found:
        return _not_measured("Which draws have the paper's linear errors", "linear_draws")
    return Table.of(
        "chosen_draws",
        "The draw of every dataset: the first whose errors of linear regression (LR) and of the "
        "linear mixed model (LME) are both within 1% of the paper's, as far as it prints them; the "
        "first of all if there is none.",
        found,
        {
            "Dataset": lambda one: dataset_label(one.dataset),
            "Draw": lambda one: str(one.chosen.draw),
            "LR / paper": lambda one: number(one.chosen.lr_ratio, 3),
            "LME / paper": lambda one: number(one.chosen.lme_ratio, 3),
            "LR / paper, first draw": lambda one: number(one.draws[0].lr_ratio, 3),
            "LME / paper, first draw": lambda one: number(one.draws[0].lme_ratio, 3),
            "Draws tried": lambda one: number(len(one.draws), 0),
            "Within 1%": lambda one: "yes" if one.chosen.agrees else "no",
        },
        cards=True,
    )


def splits_table(results: Results) -> Table | Text:
    study = split_study(results)
    if study is None:
        return _not_measured("The effect of the split", "inflation_splits")
    found = [(rule, *model) for rule, models in study.rules.items() for model in models.items()]
    return Table(
        "splits",
        "Inflation: test errors over splits by several rules. Years and quarters give the paper's "
        "counts of rows, blocks of two years about 2% more test rows. The networks have the "
        "settings that the search chose for years.",
        (
            *("Model", "Test rows", "Splits", "Mean error", "Standard deviation"),
            "Paper, in deviations from the mean",
        ),
        [
            [
                Cell(model_style(model).label),
                Cell(RULES.get(rule, rule)),
                number(errors.splits, 0),
                number(errors.mean, 2, errors.paper),
                number(errors.std, 2),
                number(errors.deviations, 1),
            ]
            for rule, model, errors in found
        ],
    )


def splits_figure(results: Results) -> Drawing | Text:
    study = split_study(results)
    if study is None:
        return _not_measured("The effect of the split", "inflation_splits")
    models = list({model: None for by_model in study.errors.values() for model in by_model})

    def paint(axes: Axes, model: str) -> None:
        for by_model, colour in zip(study.errors.values(), RULE_COLOURS, strict=False):
            errors = by_model.get(model, [])
            if len(errors) >= 10:
                axes.hist(errors, bins=20, color=colour, alpha=0.6)
            else:
                axes.plot(errors, [0.5] * len(errors), "o", color=colour, alpha=0.8)
                axes.set_yticks([])
        printed = [found[model].paper for found in study.rules.values() if model in found]
        if printed:
            axes.axvline(printed[0], color=ORANGE, linewidth=2)
        axes.set(xlabel="test error (% of 2015)", ylabel="splits" if len(axes.patches) else "")

    return draw(
        "splits_figure",
        "Inflation: errors over many splits by several rules. The orange line is the error that "
        "the paper prints.",
        {f"{model_style(m).label}, {model_style(m).title}": m for m in models},
        paint,
        size=(3.0, 2.1),
        legend=[
            *(Mark(RULES.get(rule, rule), colour, "s")
              for rule, colour in zip(study.errors, RULE_COLOURS, strict=False)),
            Mark("the paper", ORANGE, line="-"),
        ],
    )  # fmt: skip


def columns_table(results: Results) -> Table | Text:
    study = column_study(results)
    if study is None:
        return _not_measured("The effect of the columns", "bike_columns")
    own = study.sets[0]
    networks = [model for model in study.paper if model not in LINEAR]
    return Table.of(
        "columns",
        f"Bike sharing: the study's columns ({listed([_column(name) for name in own.columns])}), "
        "and one other column of the file in the place of one of them. Linear errors: how far the "
        "paper's are from the means over "
        f"{plural(own.linear['lr'].splits, 'split')}, in standard deviations. Networks: errors "
        "relative to the paper's, on the study's split and with its settings, which were chosen "
        "for the study's columns.",
        sorted(study.sets, key=lambda one: (one is not own, study.ratio(one, "ll"))),
        {
            "Columns": lambda one: "the study's" if one is own else one.name(own),
            **{
                f"{model_style(model).label}, deviations": partial(_deviations, model)
                for model in own.linear
            },
            **{
                f"{model_style(model).label} / paper": partial(_ratio, study, model)
                for model in networks
            },
        },
        cards=True,
    )


def _deviations(model: str, one: ColumnSet) -> Cell:
    return number(one.linear[model].deviations, 1)


def _ratio(study: ColumnStudy, model: str, one: ColumnSet) -> Cell:
    return number(study.ratio(one, model), 2)
