"""Summary: what came out, in one table and one figure, and where to read on."""

from __future__ import annotations

from pipeline.reporting.blocks import Cell, Drawing, Table, Text, missing
from pipeline.reporting.cells import name_cell, number
from pipeline.reporting.checking import Check
from pipeline.reporting.drawing import finish, log_scale, panels, plain
from pipeline.reporting.labels import BLACK, MODELS, dataset_label
from pipeline.reporting.numbers import from_results
from pipeline.reporting.results import Results
from pipeline.reporting.verdicts import counts

SHOWN = ("lc", "cs", "ll")


def summary(results: Results, check: Check) -> Text:
    base = from_results(results).base
    found = counts(check.numbers)
    rulings = [judged.ours.ruling for judged in check.sentences]
    not_run = [dataset_label(d) for d in results.datasets if d not in base]
    return Text(
        (
            "This report reproduces “Multi-task neural networks by learned contextual inputs” "
            "(Sandnes, Grimstad and Kolbjørnsen, 2023): every table and figure from our own runs, "
            "each number beside the paper's.",
            f"{len(base)} of {len(results.datasets)} datasets have results, with the budgets of "
            f"profile {results.settings.params.profile}."
            + (f" Not run: {', '.join(not_run)}." if not_run else ""),
            f"Of {len(check.numbers)} printed numbers, {found['matches']} match within tolerance, "
            f"{found['better']} are better here, {found['differs']} differ, "
            f"{found['not comparable']} are not comparable and {found['missing']} are missing.",
            f"Of {len(rulings)} sentences of the paper, {rulings.count('holds')} hold on our "
            f"numbers, {rulings.count('does not hold')} do not, and "
            f"{rulings.count('cannot be judged')} cannot be judged.",
        )
    )


def main_table(results: Results, check: Check) -> Table:
    verdicts = {compared.cell: compared for compared in check.numbers}
    rows = []
    for dataset in results.datasets:
        row = [name_cell(results, dataset)]
        for model in SHOWN:
            compared = verdicts.get(f"base/{dataset}/{model}")
            if compared is None:  # a dataset of one's own
                value = from_results(results).base.get(dataset, {}).get(model)
                row += [number(value, 3), Cell("–")]
            else:
                kind = (
                    "unknown"
                    if compared.verdict in ("not comparable", "missing")
                    else compared.verdict
                )
                row += [
                    number(compared.ours, 3, compared.paper),
                    Cell(compared.verdict, title=compared.note or compared.reason, kind=kind),
                ]
        rows.append(row)
    header = [part for model in SHOWN for part in (MODELS[model].label, "verdict")]
    return Table(
        "main",
        "Test errors of the three multi-task networks.",
        ("Dataset", *header),
        rows,
        results.footnotes(),
    )


def ratios(results: Results, check: Check) -> Drawing | Text:
    found = {c.cell: c for c in check.numbers if c.table == "base" and c.ratio is not None}
    datasets = [d for d in results.datasets if any(f"base/{d}/{m}" in found for m in SHOWN)]
    if not datasets:
        return missing("Ours beside the paper's needs results/train.")
    figure, (axis,) = panels(1, width=7.2, height=0.9 + 0.3 * len(datasets))
    band = next(t.relative for t in results.paper.tolerances if t.cells == "base/*")
    axis.axvspan(1 - band, 1 + band, color="#eef3f7", zorder=0)
    axis.axvline(1, color=BLACK, linewidth=0.9, linestyle=":")
    for offset, model in zip((-0.2, 0, 0.2), SHOWN, strict=True):
        style = MODELS[model]
        for place, dataset in enumerate(datasets):
            compared = found.get(f"base/{dataset}/{model}")
            if compared and compared.ratio:
                axis.plot(
                    compared.ratio,
                    place + offset,
                    style.marker,
                    color=style.colour,
                    markerfacecolor=style.colour if compared.comparable else "white",
                    label=style.label if place == 0 else None,
                )
    axis.set_yticks(range(len(datasets)), [plain(results.label(d)) for d in datasets])
    axis.set_ylim(len(datasets) - 0.5, -0.5)
    shown = [c.ratio for c in found.values() if c.column in SHOWN and c.ratio]
    axis.set_xlim(min(0.7, *shown) / 1.2, max(1.4, *shown) * 1.2)
    log_scale(axis.xaxis)
    axis.set_xlabel("our error / the paper's")
    figure.legend(loc="outside upper center", ncols=3)
    return finish(
        figure,
        "ratios",
        "Our test error relative to the paper's (Table 2); left of the dotted line ours is lower. "
        f"The band is ±{band:.0%}, the tolerance of most. Open marks: editions that are not "
        "comparable.",
    )
