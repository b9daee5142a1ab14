"""Data size: Table 4 and its figure."""

from __future__ import annotations

from collections.abc import Container, Iterator

from matplotlib.axes import Axes

from learned_context.networks.registry import ARCHITECTURES
from pipeline.reporting import numbers
from pipeline.reporting.blocks import Cell, Drawing, Table, Text, missing
from pipeline.reporting.cells import dataset_table, lowest, name_cell, number
from pipeline.reporting.drawing import draw, label_models, legend_of, log_ticks, plot_models
from pipeline.reporting.formatting import listed, percent, plural, signed
from pipeline.reporting.labels import model_style
from pipeline.reporting.numbers import ALL
from pipeline.reporting.results import Results
from pipeline.reporting.story import NOTHING, Story
from pipeline.studies import sizes
from pipeline.studies.tune import SearchTrial


def shares(results: Results) -> list[float]:
    return [ALL, *sorted(results.settings.params.fractions, reverse=True)]


def losses(results: Results, datasets: Container[str]) -> tuple[float, dict[str, float], int]:
    """The smallest share, each model's mean rise of error / std from all rows to it, datasets."""
    found = {
        share: {dataset: errors for dataset, errors in rows.items() if dataset in datasets}
        for share, rows in numbers.sizes(results).items()
    }
    models = [m for m in results.taking_part(sizes.STUDY) if ARCHITECTURES[m].knows_task]
    least = min(shares(results))
    return least, *numbers.mean_rise(found, least, models)


def story(results: Results) -> Story:
    least, lost, count = losses(results, results.datasets)
    if not lost:
        return Story("Data size", NOTHING)
    first = min(lost, key=lambda model: lost[model])
    parts = [f"{signed(rise, 3)} for {model_style(m).label}" for m, rise in lost.items()]
    return Story(
        f"With {percent(least)} of the rows, the {model_style(first).title} network loses least",
        f"From all rows to {percent(least)} of every task's rows, the error relative to the "
        f"target's standard deviation changes by {listed(parts)}, on average over "
        f"{plural(count, 'dataset')}.",
    )


def table_4(results: Results) -> Table:
    found = numbers.sizes(results)
    models = results.taking_part(sizes.STUDY)

    def cells(dataset: str) -> Iterator[Cell]:
        for share in shares(results):
            errors = found.get(share, {}).get(dataset, {})
            best = lowest(errors, 2)
            for model in models:
                printed = results.paper.value("sizes", dataset, f"{model} {share}")
                yield number(errors.get(model), 2, printed, bold=model in best)

    return dataset_table(
        results,
        "table_4",
        "Table 4. Test errors of networks tuned and trained on a share of every task's training "
        "rows, relative to the standard deviation of the target. Bold: the lowest at each share, "
        "and what equals it in two decimals.",
        [model_style(model).label for model in models],
        cells,
        groups=[f"{percent(share)} of the rows" for share in shares(results)],
    )


def halvings(results: Results) -> Table | Text:
    """Of the searches on few rows a task: what they found, and what was used."""

    def best(trials: list[SearchTrial]) -> SearchTrial:
        return min(trials, key=lambda trial: trial.score)

    tried = [
        (result, share, part.halvings)
        for result in results.every(sizes.STUDY, results.taking_part(sizes.STUDY)).values()
        for share, part in result.fractions.items()
        if part.halvings
    ]
    if not tried:
        return Text(("Every task has rows enough: the numbers that the searches found are used.",))
    return Table.of(
        "halvings",
        "Where a task has few rows, fewer task parameters than the search found are tried, each "
        "row being held out once. Errors are of the held-out rows, relative to the target's "
        "standard deviation; the number with the lowest is used.",
        tried,
        {
            "Dataset": lambda one: name_cell(results, one[0].dataset),
            "Model": lambda one: model_style(str(one[0].model)).label,
            "Rows": lambda one: percent(float(one[1])),
            "Found": lambda one: number(one[2][0].settings.task_dim, 0),
            "Its error": lambda one: number(one[2][0].score, 3),
            "Used": lambda one: number(best(one[2]).settings.task_dim, 0),
            "Error": lambda one: number(best(one[2]).score, 3),
            "All errors": lambda one: ", ".join(
                f"{trial.settings.task_dim}: {trial.score:.3f}" for trial in one[2]
            ),
        },
        sortable=True,
    )


def errors_by_share(results: Results) -> Drawing | Text:
    found = numbers.sizes(results)
    items: dict[str, dict[str, dict[float, float]]] = {}
    for share, by_dataset in sorted(found.items()):
        for dataset, errors in by_dataset.items():
            curves = items.setdefault(results.label(dataset), {})
            for model, error in errors.items():
                curves.setdefault(model, {})[share] = error
    if not items:
        return missing("Errors by data size need results/sizes and results/train.")

    def paint(axes: Axes, curves: dict[str, dict[float, float]]) -> None:
        ticks = sorted(shares(results))
        plot_models(axes, curves)
        log_ticks(axes, ticks, [percent(share) for share in ticks])
        axes.set_ylim(0, 1.08 * axes.dataLim.ymax)  # a mark at the top is not cut
        axes.set(xlabel="share of the rows", ylabel="error / std of the target")
        label_models(axes, curves)

    return draw(
        "errors_by_share",
        "Test error against the share of the training rows, relative to the target's standard "
        "deviation.",
        items,
        paint,
        legend=legend_of(results.taking_part(sizes.STUDY)),
    )
