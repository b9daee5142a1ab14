"""Data size: Table 4 and its figure."""

from __future__ import annotations

from pipeline.reporting.blocks import Drawing, Table, Text, missing
from pipeline.reporting.cells import lowest, name_cell, number
from pipeline.reporting.drawing import finish, legend_above, log_ticks, panels, plain
from pipeline.reporting.labels import MODELS
from pipeline.reporting.numbers import ALL, from_results
from pipeline.reporting.results import Results


def _shares(results: Results) -> list[float]:
    return [ALL, *sorted(results.settings.params.fractions, reverse=True)]


def table_4(results: Results) -> Table:
    sizes = from_results(results).sizes
    models = results.settings.params.compared
    rows = []
    for dataset in results.datasets:
        row = [name_cell(results, dataset)]
        for share in _shares(results):
            found = sizes.get(share, {}).get(dataset, {})
            best = lowest(found)
            for model in models:
                printed = results.paper.value("sizes", dataset, f"{model} {share}")
                row.append(number(found.get(model), 2, printed, bold=model in best))
        rows.append(row)
    return Table(
        "table_4",
        "Table 4. Test errors of networks tuned and trained on a share of every task's training "
        "rows, relative to the standard deviation of the target; the best at each share in bold.",
        (
            "Dataset",
            *(
                f"{MODELS[model].label} {share:.0%}"
                for share in _shares(results)
                for model in models
            ),
        ),
        rows,
        results.footnotes(),
    )


def errors_by_share(results: Results) -> Drawing | Text:
    sizes = from_results(results).sizes
    datasets = [
        d for d in results.datasets if any(d in by_dataset for by_dataset in sizes.values())
    ]
    if not datasets:
        return missing("Errors by data size need results/sizes and results/train.")
    figure, axes = panels(len(datasets))
    for axis, dataset in zip(axes, datasets, strict=True):
        for model in results.settings.params.compared:
            style = MODELS[model]
            points = sorted(
                (share, by_dataset[dataset][model])
                for share, by_dataset in sizes.items()
                if model in by_dataset.get(dataset, {})
            )
            if points:
                shares, errors = zip(*points, strict=True)
                axis.plot(
                    shares, errors, marker=style.marker, color=style.colour, label=style.label
                )
        ticks = sorted(_shares(results))
        log_ticks(axis, ticks, [f"{share:.0%}" for share in ticks])
        axis.set_ylim(0, 1.08 * axis.dataLim.ymax)  # a mark at the top is not cut
        axis.set_title(plain(results.label(dataset)))
    legend_above(figure, max(axes, key=lambda axis: len(axis.lines)))
    figure.supxlabel("share of the training rows", fontsize=8.5)
    figure.supylabel("error / std of y", fontsize=8.5)
    return finish(
        figure,
        "errors_by_share",
        "Test error against the share of the training rows, relative to the target's standard "
        "deviation.",
    )
