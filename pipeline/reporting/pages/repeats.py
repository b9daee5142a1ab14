"""Repeated training: Table 3, and every training as a dot."""

from __future__ import annotations

from pipeline.reporting.blocks import DASH, Cell, Drawing, Table, Text, missing
from pipeline.reporting.cells import name_cell
from pipeline.reporting.drawing import finish, panels, plain, reference_line
from pipeline.reporting.labels import MODELS
from pipeline.reporting.numbers import Repeats, from_results
from pipeline.reporting.results import Results


def table_3(results: Results) -> Table:
    found = from_results(results).repeats
    models = results.settings.params.compared
    rows = [
        [
            name_cell(results, dataset),
            *(
                _cell(results, dataset, model, found.get(dataset, {}).get(model))
                for model in models
            ),
        ]
        for dataset in results.datasets
    ]
    return Table(
        "table_3",
        f"Table 3. Lowest and highest test error of {results.settings.profile.repeats} trainings "
        "with the same hyperparameters, relative to the LC network of Table 2. In brackets: "
        "trainings that diverged and were started again, if any.",
        ("Dataset", *(MODELS[model].label for model in models)),
        rows,
        results.footnotes(),
    )


def _cell(results: Results, dataset: str, model: str, ours: Repeats | None) -> Cell:
    low, high, diverged = (
        results.paper.value("repeats", dataset, f"{model} {what}")
        for what in ("min", "max", "diverged")
    )
    printed = ""
    if low is not None and high is not None and diverged is not None:
        printed = _show(Repeats(low, high, int(diverged)))
    if ours is None:
        return Cell(DASH.text, paper=printed, title=DASH.title)
    return Cell(_show(ours), paper=printed)


def _show(cell: Repeats) -> str:
    return f"{cell.low:.2f}, {cell.high:.2f}" + (f" ({cell.diverged})" if cell.diverged else "")


def trainings(results: Results) -> Drawing | Text:
    found = []
    for dataset in results.datasets:
        base = results.get("train", dataset, "lc")
        errors = {}
        for model in results.settings.params.compared:
            result = results.get("repeats", dataset, model)
            if base and result:
                errors[model] = [
                    training["rmse"] / base["rmse"] for training in result["trainings"]
                ]
        if errors:
            found.append((dataset, errors))
    if not found:
        return missing("The trainings need results/repeats and results/train.")
    figure, axes = panels(len(found))
    for axis, (dataset, errors) in zip(axes, found, strict=True):
        for place, (model, values) in enumerate(errors.items()):
            style = MODELS[model]
            spread = [place + 0.3 * (i / max(1, len(values) - 1) - 0.5) for i in range(len(values))]
            axis.plot(
                spread, values, style.marker, color=style.colour, alpha=0.75, markeredgewidth=0
            )
        reference_line(axis)
        axis.set_xticks(range(len(errors)), [MODELS[model].label for model in errors])
        axis.set_xlim(-0.5, len(errors) - 0.5)
        axis.grid(axis="x", visible=False)
        axis.set_title(plain(results.label(dataset)))
    figure.supylabel("error relative to LC's base", fontsize=8.5)
    return finish(
        figure,
        "trainings",
        "Every training of Table 3, in the order of its seed. The dotted line is the LC network of "
        "Table 2, which is the first of its trainings.",
    )
