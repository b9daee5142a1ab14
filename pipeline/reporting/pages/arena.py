"""Arena: the estimator and its competitors on many grouped datasets, known tasks and new ones."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.axes import Axes

from pipeline import checked
from pipeline.reporting.arena_layout import Arena, Standing, TrackTable
from pipeline.reporting.blocks import Cell, Drawing, Folded, Mark, Table, Text, missing
from pipeline.reporting.cells import number
from pipeline.reporting.drawing import WIDE, label_ends, log_ticks, picture, plain
from pipeline.reporting.formatting import listed, percent, plural, show
from pipeline.reporting.labels import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, YELLOW
from pipeline.reporting.results import Results
from pipeline.reporting.story import Story

NOT_RUN = "The arena has not run yet: `python -m benchmarks.arena run` and `... summary`."
OTHERS = (ORANGE, GREEN, PURPLE, YELLOW, SKY)


def load(results: Results) -> Arena | None:
    content = results.benchmark("arena")
    if content is None:
        return None
    path = results.files.root / "results" / "benchmarks" / "arena.json"
    return checked.parse(path, content, Arena, "write it with `python -m benchmarks.arena summary`")


def _titles(arena: Arena) -> dict[str, str]:
    return {one.name: one.title for one in arena.contestants}


def _ours(arena: Arena) -> list[str]:
    return [one.name for one in arena.contestants if one.ours]


def standing(arena: Arena, table: TrackTable) -> tuple[int, Standing] | None:
    """Our best place in a leaderboard, from one."""
    ours = set(_ours(arena))
    for place, one in enumerate(table.standings, start=1):
        if one.contestant in ours:
            return place, one
    return None


def story(arena: Arena | None) -> Story:
    found = arena and standing(arena, arena.known)
    if not arena or not found:
        return Story("Arena", NOT_RUN)
    place, one = found
    count, datasets = len(arena.known.standings), plural(one.datasets, "dataset")
    title = (
        f"Learned context has the best mean rank of {count} methods on {datasets}"
        if place == 1
        else f"Learned context is number {place} of {count} methods on {datasets}"
    )
    lost = {loss.dataset for loss in arena.losses}
    new = {rows: standing(arena, table) for rows, table in arena.new.items()}
    said = [f"{there[0]} with {plural(int(rows), 'row')}" for rows, there in new.items() if there]
    answer = (
        f"Known tasks: mean rank {show(one.mean_rank, 1)}, the lowest error on {one.best} of "
        f"{datasets}, and {_above(one)} above the best method's error on average. "
        + (f"New tasks, by the rows they arrive with: place {listed(said)}. " if said else "")
        + f"Another method is better on {plural(len(lost), 'dataset')}"
        + (", listed below." if lost else ".")
    )
    return Story(title, answer)


def _above(one: Standing) -> str:
    return "–" if one.mean_relative is None else percent(one.mean_relative - 1, 1)


def leaderboard(arena: Arena | None) -> Table | Text:
    if arena is None:
        return missing(NOT_RUN)
    caption = (
        "Known tasks (track 1): a fifth of every task's rows are test rows. Sorted by mean rank; "
        "every column sorts."
    )
    return _standings(arena, arena.known, "leaderboard", caption)


def _standings(arena: Arena, table: TrackTable, name: str, caption: str) -> Table:
    titles, ours = _titles(arena), _ours(arena)
    rows = [
        [
            Cell(titles.get(one.contestant, one.contestant)),
            number(one.mean_rank, 2),
            number(one.mean_relative, 3),
            number(one.best, 0),
            number(one.failed, 0),
            number(one.fit_seconds, 1),
            Cell(f"{one.covered} of {one.datasets}", one.covered)
            if one.covered is not None
            else Cell("–"),
        ]
        for one in table.standings
    ]
    marked = [i for i, one in enumerate(table.standings) if one.contestant in ours]
    return Table(
        name,
        caption,
        (
            "Method",
            "Mean rank",
            "Mean error / best",
            "Best on",
            "Failed on",
            "Fit (s, median)",
            "Intervals right",
        ),
        rows,
        notes=(
            "Intervals right: datasets where the 90% intervals cover 85 to 95% of the test rows.",
        ),
        sortable=True,
        marked=marked,
    )


def ranks(arena: Arena | None) -> Drawing | Text:
    """Demšar's critical-difference diagram."""
    found = arena.known.critical_difference if arena else None
    if arena is None or found is None:
        return missing("The ranks need the arena's results on several datasets.")
    titles, ours = _titles(arena), _ours(arena)
    names = found.contestants

    def paint(axes: Axes) -> None:
        for place, (name, rank) in enumerate(zip(names, found.mean_ranks, strict=True)):
            axes.plot(rank, place, "o", color=BLUE if name in ours else GREY, markersize=6)
        for offset, group in enumerate(found.groups):
            low, high = (found.mean_ranks[names.index(one)] for one in (group[0], group[-1]))
            height = len(names) - 0.2 + 0.45 * offset
            axes.plot([low, high], [height, height], color=ORANGE, linewidth=2.5)
        axes.set_yticks(range(len(names)), [plain(titles.get(name, name)) for name in names])
        axes.set_ylim(len(names) - 0.4 + 0.45 * len(found.groups), -0.6)
        axes.set_xlabel("mean rank (lower is better)")
        axes.grid(axis="y", visible=False)

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


def duels(arena: Arena | None) -> Table | Text:
    found = arena and standing(arena, arena.known)
    if arena is None or not found:
        return missing(NOT_RUN)
    titles, ours = _titles(arena), found[1].contestant
    tables: Mapping[str, TrackTable] = {"Known tasks": arena.known} | {
        f"New, {plural(int(rows), 'row')}": table for rows, table in arena.new.items()
    }
    others = [one.contestant for one in arena.known.standings if one.contestant != ours]
    rows = []
    for other in others:
        row = [Cell(titles.get(other, other))]
        for table in tables.values():
            duel = table.duels.get(ours, {}).get(other)
            if duel is None or not duel.datasets:
                row.append(Cell("–"))
            else:
                share = duel.at_least_as_good / duel.datasets
                row.append(Cell(f"{duel.at_least_as_good} of {duel.datasets}", share))
        rows.append(row)
    return Table(
        "duels",
        f"On how many datasets {titles.get(ours, ours)} is at least as good as each other method.",
        ("Method", *tables),
        rows,
        sortable=True,
    )


def new_tasks(arena: Arena | None) -> Drawing | Text:
    if arena is None or not arena.new:
        return missing("New tasks need the arena's second track.")
    titles, ours = _titles(arena), _ours(arena)
    lines: dict[str, dict[int, float]] = {}
    for rows, table in arena.new.items():
        for one in table.standings:
            if one.mean_relative is not None:
                lines.setdefault(one.contestant, {})[int(rows)] = one.mean_relative
    ticks = sorted({count for line in lines.values() for count in line})
    others = sorted((n for n in lines if n not in ours), key=lambda n: min(lines[n].values()))
    shown = dict(zip(others, OTHERS, strict=False)) | dict.fromkeys(ours, BLUE)

    def paint(axes: Axes) -> None:
        ends = []
        for name, line in lines.items():
            colour = shown.get(name, GREY)
            axes.plot(
                list(line), list(line.values()), marker="o", markersize=3, color=colour,
                linewidth=2.4 if name in ours else 1.1, alpha=1 if name in shown else 0.5,
            )  # fmt: skip
            if name in shown:
                ends.append((list(line.values())[-1], titles.get(name, name), colour))
        log_ticks(axes, ticks, [str(count) for count in ticks])
        axes.set(xlabel="rows of the new task", ylabel="mean error / best method's")
        axes.set_ylim(0.95, min(3.0, axes.get_ylim()[1]))
        label_ends(axes, ends, 0.065)

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
        return missing("New tasks need the arena's second track.")
    return Folded(
        [
            (
                f"New tasks with {plural(int(rows), 'row')}",
                _standings(arena, table, f"new_{rows}", ""),
            )
            for rows, table in arena.new.items()
        ]
    )


def by_dataset(arena: Arena | None) -> Folded | Text:
    """Every dataset, to be opened: what it is, and every method's error."""
    if arena is None:
        return missing(NOT_RUN)
    titles, ours = _titles(arena), _ours(arena)
    tables = []
    for dataset in arena.datasets:
        found = arena.known.results.get(dataset.name, {})
        order = sorted(found, key=lambda name: found[name].rank or 0.0)
        if not order:
            continue
        rows = [
            [
                Cell(titles.get(name, name)),
                number(found[name].rmse, None)
                if found[name].failure is None
                else Cell("failed", why=found[name].failure or "", chip="bad"),
                number(found[name].relative, 3),
                number(found[name].fit_seconds, 1),
                Cell("–")
                if found[name].coverage is None
                else Cell(percent(found[name].coverage or 0.0, 1), found[name].coverage),
            ]
            for name in order
        ]
        first = titles.get(order[0], order[0])
        place = next((i + 1 for i, name in enumerate(order) if name in ours), None)
        tables.append(
            (
                f"{dataset.label}: {show(dataset.rows, 0)} rows, "
                f"{plural(dataset.tasks, 'task')}; best: {first}"
                + (f"; learned context: place {place}" if place and place > 1 else ""),
                Table(
                    f"dataset_{dataset.name.replace('/', '_')}",
                    f"Task: {dataset.task}; target: {dataset.target}. {dataset.why}",
                    ("Method", "Error", "/ best", "Fit (s)", "90% intervals cover"),
                    rows,
                    marked=[i for i, name in enumerate(order) if name in ours],
                ),
            )
        )
    return Folded(tables)


def losses(arena: Arena | None) -> Table | Text:
    if arena is None:
        return missing(NOT_RUN)
    titles = _titles(arena)
    labels = {one.name: one.label for one in arena.datasets}
    rows = [
        [
            Cell(labels.get(loss.dataset, loss.dataset)),
            Cell(loss.track),
            number(loss.relative, 3),
            Cell(titles.get(loss.best, loss.best)),
        ]
        for loss in arena.losses
    ]
    return Table(
        "losses",
        "Datasets on which another method is better." if rows else "No other method is better.",
        ("Dataset", "Track", "Our error / best", "Best method"),
        rows,
        sortable=True,
        tall=True,
    )


def targets(arena: Arena | None) -> Table | Text:
    if arena is None:
        return missing(NOT_RUN)
    rows = [
        [
            Cell(target.what),
            Cell(target.track),
            Cell(target.wanted),
            Cell(target.measured),
            Cell("met" if target.met else "not met", chip="good" if target.met else "bad"),
        ]
        for target in arena.targets
    ]
    return Table(
        "targets",
        "Goals that were set before the test rows were seen.",
        ("Goal", "Track", "Target", "Measured", "Met"),
        rows,
        cards=True,
    )


def contestants(arena: Arena | None) -> Table | Text:
    if arena is None:
        return missing(NOT_RUN)
    rows = [
        [
            Cell(one.title),
            Cell(" ".join(filter(None, (one.package, one.version))) or "this library"),
            Cell(one.note or "–"),
            number(one.known_splits, 0),
            number(one.new_splits, 0),
        ]
        for one in arena.contestants
    ]
    return Table(
        "contestants",
        "Every method runs with its defaults and gets the task as its documentation recommends.",
        ("Method", "Package", "How the task is given", "Splits, known", "Splits, new"),
        rows,
        cards=True,
    )
