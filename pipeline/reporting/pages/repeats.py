"""Repeated training: Table 3, and every training as a dot."""

from __future__ import annotations

from collections.abc import Iterator

from matplotlib.axes import Axes

from pipeline.reporting import numbers
from pipeline.reporting.blocks import DASH, Cell, Drawing, Table, Text, missing
from pipeline.reporting.cells import dataset_table
from pipeline.reporting.drawing import draw, legend_of, reference_line
from pipeline.reporting.formatting import percent, plural, show
from pipeline.reporting.labels import dataset_label, model_style
from pipeline.reporting.numbers import RepeatsCell
from pipeline.reporting.results import Results
from pipeline.reporting.story import NOTHING, Story
from pipeline.studies import repeats

WIDE_SPREAD = 0.1


def story(results: Results) -> Story:
    found = numbers.repeats(results)
    cells = {(d, m): cell for d, row in found.items() for m, cell in row.items()}
    if not cells:
        return Story("Repeated training", NOTHING)
    spread = {place: cell.high / cell.low - 1 for place, cell in cells.items()}
    wide = [place for place, width in spread.items() if width > WIDE_SPREAD]
    restarts = sum(cell.diverged for cell in cells.values())
    largest = max(spread, key=lambda place: spread[place])
    where = f"{model_style(largest[1]).label} on {dataset_label(largest[0])}"
    return Story(
        f"Another seed changes the error by less than {percent(WIDE_SPREAD)} in "
        f"{len(cells) - len(wide)} of {len(cells)} cases",
        f"The worst of {results.settings.profile.repeats} trainings is at most "
        f"{percent(WIDE_SPREAD)} above the best one in {len(cells) - len(wide)} of {len(cells)} "
        f"cases; the largest spread is {percent(spread[largest])} ({where}). "
        f"{plural(restarts, 'training')} diverged and started again at a lower rate.",
    )


def table_3(results: Results) -> Table:
    models = results.taking_part(repeats.STUDY)
    found, printed = numbers.repeats(results), numbers.from_paper(results.paper).repeats

    def cells(dataset: str) -> Iterator[Cell]:
        for model in models:
            ours, paper = (rows.get(dataset, {}).get(model) for rows in (found, printed))
            yield Cell(_show(ours) if ours else DASH.text, paper=_show(paper) if paper else "")

    return dataset_table(
        results,
        "table_3",
        f"Table 3. Lowest and highest test error of {results.settings.profile.repeats} trainings "
        "with the same hyperparameters, relative to the LC network of Table 2. In brackets: "
        "trainings that diverged and were restarted, if any.",
        [model_style(model).label for model in models],
        cells,
    )


def _show(cell: RepeatsCell) -> str:
    brackets = f" ({cell.diverged})" if cell.diverged else ""
    return f"{show(cell.low, 2)} – {show(cell.high, 2)}{brackets}"


def trainings(results: Results) -> Drawing | Text:
    found = {results.label(d): errors for d, errors in numbers.repeated_errors(results).items()}
    if not found:
        return missing("The trainings need results/repeats and results/train.")

    def paint(axes: Axes, errors: dict[str, list[float]]) -> None:
        for place, (model, values) in enumerate(errors.items()):
            style = model_style(model)
            middle = (len(values) - 1) / 2 or 1
            spread = [place + 0.16 * (i - middle) / middle for i in range(len(values))]
            axes.plot(
                spread, values, style.marker, color=style.colour, alpha=0.75, markeredgewidth=0
            )
        reference_line(axes)
        axes.set_xticks(range(len(errors)), [model_style(model).label for model in errors])
        axes.set_xlim(-0.5, len(errors) - 0.5)
        axes.grid(axis="x", visible=False)
        axes.set_ylabel("error / LC's in Table 2")

    return draw(
        "trainings",
        "Every training of Table 3. The dotted line at one is the LC network of Table 2, which is "
        f"the first of its {results.settings.profile.repeats} trainings.",
        found,
        paint,
        legend=legend_of(results.taking_part(repeats.STUDY), line=""),
    )
