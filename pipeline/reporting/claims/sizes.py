"""Section 5.5: the effect of the dataset's size."""

from __future__ import annotations

from functools import partial
from statistics import fmean

from pipeline.reporting.labels import dataset_label, model_style
from pipeline.reporting.numbers import ALL, Numbers, mean_rise
from pipeline.reporting.paper import COMPARED
from pipeline.reporting.sentences import Finding, ruling, sentence, too_few, unknown

claim = partial(sentence, "5.5")


@claim(
    "Context-sensitive networks are on average slightly behind the others on all data sizes",
    "the mean of error / std over datasets is highest for CS at every size",
)
def cs_behind(numbers: Numbers) -> Finding:
    """On average over datasets, at every size."""
    parts, behind, least = [], [], 10
    for share in sorted(numbers.sizes, reverse=True):
        rows = [r for r in numbers.sizes[share].values() if all(m in r for m in COMPARED)]
        least = min(least, len(rows))
        if rows:
            mean = {m: fmean(row[m] for row in rows) for m in COMPARED}
            behind.append(mean["cs"] > mean["lc"] and mean["cs"] > mean["ll"])
            shown = ", ".join(f"{model_style(m).label} {mean[m]:.3f}" for m in COMPARED)
            parts.append(f"{share:.0%}: {shown}")
    return too_few(least if parts else 0, "all three networks") or ruling(
        all(behind), "Mean error / std: " + "; ".join(parts) + "."
    )


@claim(
    "the learned-context architecture is less sensitive to this than the others",
    "the mean rise of error / std from 100% to 10% of the rows is lowest for LC",
)
def lc_loses_least(numbers: Numbers) -> Finding:
    lost, count = mean_rise(numbers.sizes, 0.1, COMPARED)
    shown = ", ".join(f"{model_style(m).label} {rise:+.3f}" for m, rise in lost.items())
    return too_few(count, "all networks at 100% and 10%") or ruling(
        lost["lc"] == min(lost.values()), f"Mean rise of error / std from 100% to 10%: {shown}."
    )


@claim(
    "three datasets stand out with an improved performance, namely Obesity, Height, and Sarcos",
    "some network is better with 10% of the rows on these three, and on no other",
)
def improved_at_ten(numbers: Numbers) -> Finding:
    named = ("obesity", "height", "sarcos")
    full, small = numbers.sizes.get(ALL, {}), numbers.sizes.get(0.1, {})
    both = [d for d in full if d in small]
    if not set(named) <= set(both):
        return unknown("Obesity, Height and Sarcos are all needed, at 100% and 10%.")
    better = {
        d: [
            model_style(m).label
            for m in COMPARED
            if m in full[d] and small[d].get(m, 9e9) < full[d][m]
        ]
        for d in both
    }
    shown = ", ".join(f"{dataset_label(d)} ({', '.join(m)})" for d, m in better.items() if m)
    return ruling(
        all(better[d] for d in named) and not any(better[d] for d in both if d not in named),
        f"Some network is better with 10% of the rows on: {shown or 'none'}.",
    )
