"""Arena: the estimator and its competitors on many grouped datasets, known tasks and new ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from matplotlib.axes import Axes

from pipeline.reporting.arena_layout import Arena, ArenaResult, DatasetEntry, Standing, TrackTable
from pipeline.reporting.blocks import (
    DASH,
    Cell,
    Drawing,
    Folded,
    Mark,
    PageBlock,
    Table,
    Text,
    missing,
)
from pipeline.reporting.cells import number, text
from pipeline.reporting.drawing import WIDE, label_ends, labelled_rows, log_ticks, picture
from pipeline.reporting.formatting import listed, percent, plural, show
from pipeline.reporting.labels import BLUE, DATASETS, GREEN, GREY, ORANGE, PURPLE, SKY, YELLOW
from pipeline.reporting.results import Results
from pipeline.reporting.story import Story

NOT_RUN = "The arena has not run yet: `python -m benchmarks.arena run` and `... summary`."
NO_NEW_TASKS = "New tasks need the arena's second track."
OTHERS = (ORANGE, GREEN, PURPLE, YELLOW, SKY)
Made = TypeVar("Made", bound=PageBlock)


def load(results: Results) -> Arena | None:
    return results.benchmark("arena", Arena, "write it with `python -m benchmarks.arena summary`")


def _if_run(make: Callable[[Arena], Made]) -> Callable[[Arena | None], Made | Text]:
    """Without the arena's results, the page says in the block's place that it has not run."""
    return wraps(make)(lambda arena: make(arena) if arena else missing(NOT_RUN))


def titles(arena: Arena) -> dict[str, str]:
    return {one.name: one.title for one in arena.contestants}


def ours(arena: Arena) -> list[str]:
    return [one.name for one in arena.contestants if one.ours]


def standing(arena: Arena, table: TrackTable) -> tuple[int, Standing] | None:
    """Our best place in a leaderboard, from one."""
    places = enumerate(table.standings, start=1)
    return next(((place, one) for place, one in places if one.contestant in ours(arena)), None)


def story(arena: Arena | None) -> Story:
    found = arena and standing(arena, arena.known)
    if not arena or not found:
        return Story("Arena", NOT_RUN)
    place, one = found
    count, datasets = len(arena.known.standings), plural(one.datasets, "dataset")
    rank = "has the best mean rank" if place == 1 else f"is number {place}"
    lost = {loss.dataset for loss in arena.losses}
    new = {rows: standing(arena, table) for rows, table in arena.new.items()}
    said = [f"{there[0]} with {plural(int(rows), 'row')}" for rows, there in new.items() if there]
    above = "–" if one.mean_relative is None else percent(one.mean_relative - 1, 1)
    return Story(
        f"Learned context {rank} of {count} methods on {datasets}",
        f"Known tasks: mean rank {show(one.mean_rank, 1)}, the lowest error on {one.best} of "
        f"{datasets}, and {above} above the best method's error on average. "
        + (f"New tasks, by the rows they arrive with: place {listed(said)}. " if said else "")
        + f"On {plural(len(lost), 'dataset')} another method is better in at least one of these "
        "comparisons.",
    )


@_if_run
def leaderboard(arena: Arena) -> Table:
    caption = (
        "Known tasks (track 1): a fifth of every task's rows are test rows. Sorted by mean rank; "
        "every column sorts."
    )
    return _standings(arena, arena.known, "leaderboard", caption)


def _standings(arena: Arena, table: TrackTable, name: str, caption: str) -> Table:
    def covered(one: Standing) -> Cell:
        return DASH if one.covered is None else _of(one.covered, one.datasets, one.covered)

    return Table.of(
        name,
        caption,
        table.standings,
        {
            "Method": lambda one: titles(arena)[one.contestant],
            "Mean rank": lambda one: number(one.mean_rank, 2),
            "Mean error / best": lambda one: number(one.mean_relative, 3),
            "Best on": lambda one: number(one.best, 0),
            "Failed on": lambda one: number(one.failed, 0),
            "Fit (s, median)": lambda one: number(one.fit_seconds, 1),
            "Intervals right": covered,
        },
        notes=(
            "Intervals right: datasets where the 90% intervals cover 85 to 95% of the test rows.",
        ),
        sortable=True,
        marked=_places(ours(arena), [one.contestant for one in table.standings]),
    )


def _of(count: int, everything: int, value: float) -> Cell:
    return Cell(f"{count} of {everything}", value)


def _track(name: str) -> str:
    return name.replace(" 1 rows", " 1 row")


def _places(wanted: list[str], names: list[str]) -> list[int]:
    return [place for place, name in enumerate(names) if name in wanted]


def ranks(arena: Arena | None) -> Drawing | Text:
    """Demšar's critical-difference diagram."""
    found = arena.known.critical_difference if arena else None
    if arena is None or found is None:
        return missing("The ranks need the arena's results on several datasets.")
    names, learned = found.contestants, ours(arena)

    def paint(axes: Axes) -> None:
        for place, (name, rank) in enumerate(zip(names, found.mean_ranks, strict=True)):
            axes.plot(rank, place, "o", color=BLUE if name in learned else GREY, markersize=6)
        for offset, group in enumerate(found.groups):
            low, high = (found.mean_ranks[names.index(one)] for one in (group[0], group[-1]))
            height = len(names) - 0.2 + 0.45 * offset
            axes.plot([low, high], [height, height], color=ORANGE, linewidth=2.5)
        labelled_rows(axes, [titles(arena)[name] for name in names])
        axes.set_ylim(len(names) - 0.4 + 0.45 * len(found.groups), -0.6)
        axes.set_xlabel("mean rank (lower is better)")

    return picture(
        "ranks",
        f"Mean ranks over {plural(found.datasets, 'dataset')} of the methods that ran on all of "
        "them. Methods under one orange line do not differ at the 5% level (Nemenyi; critical "
        f"difference {show(found.difference, 2)}, Friedman p = {show(found.friedman_p)}).",
        paint,
        size=(WIDE, 0.9 + 0.24 * (len(names) + len(found.groups))),
        legend=[
            Mark("learned context", BLUE, "o"),
            Mark("other methods", GREY, "o"),
            Mark("no significant difference", ORANGE, line="-"),
        ],
    )


@_if_run
def duels(arena: Arena) -> Table | Text:
    found = standing(arena, arena.known)
    if not found:
        return missing(NOT_RUN)
    first = found[1].contestant
    tables = {"Known tasks": arena.known} | {
        f"New, {plural(int(rows), 'row')}": table for rows, table in arena.new.items()
    }

    def duel(table: TrackTable) -> Callable[[str], Cell]:
        def cell(other: str) -> Cell:
            one = table.duels.get(first, {}).get(other)
            if one is None or not one.datasets:
                return DASH
            return _of(one.at_least_as_good, one.datasets, one.at_least_as_good / one.datasets)

        return cell

    return Table.of(
        "duels",
        f"On how many datasets {titles(arena)[first]} is at least as good as each other method.",
        [one.contestant for one in arena.known.standings if one.contestant != first],
        {"Method": titles(arena).__getitem__} | {name: duel(t) for name, t in tables.items()},
        sortable=True,
    )


def new_tasks(arena: Arena | None) -> Drawing | Text:
    if arena is None or not arena.new:
        return missing(NO_NEW_TASKS)
    learned = ours(arena)
    lines: dict[str, dict[int, float]] = {}
    for rows, table in arena.new.items():
        for one in table.standings:
            if one.mean_relative is not None:
                lines.setdefault(one.contestant, {})[int(rows)] = one.mean_relative
    ticks = sorted({count for line in lines.values() for count in line})
    others = sorted((n for n in lines if n not in learned), key=lambda n: min(lines[n].values()))
    shown = dict(zip(others, OTHERS, strict=False)) | dict.fromkeys(learned, BLUE)

    def paint(axes: Axes) -> None:
        for name, line in lines.items():
            axes.plot(
                list(line), list(line.values()), marker="o", markersize=3,
                color=shown.get(name, GREY), linewidth=2.4 if name in learned else 1.1,
                alpha=1 if name in shown else 0.5,
            )  # fmt: skip
        log_ticks(axes, ticks, [str(count) for count in ticks])
        axes.set(xlabel="rows of the new task", ylabel="mean error / best method's")
        axes.set_ylim(0.95, min(3.0, axes.get_ylim()[1]))
        ends = {name: list(line.values())[-1] for name, line in lines.items() if name in shown}
        label_ends(axes, [(y, titles(arena)[name], shown[name]) for name, y in ends.items()], 0.065)

    return picture(
        "new_tasks",
        "New tasks (track 2): mean error relative to the best method of each dataset, by the "
        "number of rows with which a task arrives. Learned context only estimates the new task's "
        "parameters; the other methods are fitted again or add the task in their own way. Datasets "
        "on which a method failed are not in its mean. Grey: methods further behind.",
        paint,
        size=(WIDE, 3.0),
    )


def new_leaderboards(arena: Arena | None) -> Folded | Text:
    if arena is None or not arena.new:
        return missing(NO_NEW_TASKS)
    return Folded(
        [
            (
                f"New tasks with {plural(int(rows), 'row')}",
                _standings(arena, table, f"new_{rows}", ""),
            )
            for rows, table in arena.new.items()
        ]
    )


def _label(dataset: DatasetEntry) -> str:
    """The paper's datasets are called as on the other pages."""
    return DATASETS.get(dataset.name, dataset.label)


@_if_run
def by_dataset(arena: Arena) -> Folded:
    """Every dataset, to be opened: what it is, and every method's error."""
    results = arena.known.results
    return Folded(
        [
            _dataset(arena, dataset, results[dataset.name])
            for dataset in arena.datasets
            if results.get(dataset.name)
        ]
    )


def _dataset(
    arena: Arena, dataset: DatasetEntry, found: dict[str, ArenaResult]
) -> tuple[str, Table]:
    order = sorted(found, key=lambda name: found[name].rank or 0.0)
    learned = _places(ours(arena), order)
    behind = learned and learned[0] > 0

    def error(name: str) -> Cell:
        failure = found[name].failure
        if failure is None:
            return number(found[name].rmse, None)
        return Cell("failed", why=failure, chip="bad")

    def coverage(name: str) -> Cell:
        share = found[name].coverage
        return DASH if share is None else Cell(percent(share, 1), share)

    summary = (
        f"{_label(dataset)}: {show(dataset.rows, 0)} rows, {plural(dataset.tasks, 'task')}; "
        f"best: {titles(arena)[order[0]]}"
        + (f"; learned context: place {learned[0] + 1}" if behind else "")
    )
    return summary, Table.of(
        f"dataset_{dataset.name.replace('/', '_')}",
        (f"Task: {dataset.task}; target: {dataset.target}. " if dataset.task != "task" else "")
        + f"{dataset.why[:1].upper()}{dataset.why[1:]}.",
        order,
        {
            "Method": titles(arena).__getitem__,
            "Error": error,
            "/ best": lambda name: number(found[name].relative, 3),
            "Fit (s)": lambda name: number(found[name].fit_seconds, 1),
            "90% intervals cover": coverage,
        },
        marked=learned,
    )


@_if_run
def losses(arena: Arena) -> Table:
    labels = {one.name: _label(one) for one in arena.datasets}
    return Table.of(
        "losses",
        "Datasets on which another method is better."
        if arena.losses
        else "No other method is better.",
        arena.losses,
        {
            "Dataset": lambda loss: labels[loss.dataset],
            "Track": lambda loss: _track(loss.track),
            "Our error / best": lambda loss: (
                Cell("failed") if loss.relative is None else number(loss.relative, 3)
            ),
            "Best method": lambda loss: titles(arena)[loss.best],
        },
        sortable=True,
        tall=True,
    )


@_if_run
def targets(arena: Arena) -> Table:
    return Table.of(
        "targets",
        "Goals that were set before the test rows were seen.",
        arena.targets,
        {
            "Goal": lambda target: target.what,
            "Track": lambda target: _track(target.track),
            "Target": lambda target: target.wanted,
            "Measured": lambda target: target.measured,
            "Met": lambda target: (
                Cell("met", chip="good") if target.met else Cell("not met", chip="bad")
            ),
        },
        cards=True,
    )


@_if_run
def contestants(arena: Arena) -> Table:
    return Table.of(
        "contestants",
        "Every method runs with its defaults and gets the task as its documentation recommends.",
        arena.contestants,
        {
            "Method": lambda one: one.title,
            "Package": lambda one: f"{one.package} {one.version}".strip() or "this library",
            "How the task is given": lambda one: text(one.note),
            "Splits, known": lambda one: number(one.known_splits, 0),
            "Splits, new": lambda one: number(one.new_splits, 0),
        },
        cards=True,
    )
