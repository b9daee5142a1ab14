"""Section 5.6: the effect of the task parameters' dimension."""

from __future__ import annotations

from functools import partial

from pipeline.reporting.labels import dataset_label
from pipeline.reporting.numbers import WITH_DIMENSION, Numbers, lc_and_ll
from pipeline.reporting.sentences import Finding, names, ruling, sentence, too_few, unknown

NOT_PRINTED = "The paper shows these numbers as a figure only."
claim = partial(sentence, "5.6")


@claim(
    "the learned-context neural networks achieve better performance with fewer task parameters",
    "with the fewest task parameters LC is better than LL on more than half of the datasets",
)
def fewer_needed(numbers: Numbers) -> Finding:
    found, _, better = lc_and_ll(numbers.dimension)
    if not found:
        return unknown(NOT_PRINTED)
    return too_few(len(found), "both networks in the dimension study") or ruling(
        len(better) > len(found) / 2,
        f"With the fewest task parameters LC is better on {len(better)} of {len(found)}: "
        f"{names(better)}.",
    )


@claim(
    "but the gap is closed as the number increases",
    "LL's error relative to LC's falls from the fewest to the most, on more than half",
)
def gap_closes(numbers: Numbers) -> Finding:
    found, fewest, _ = lc_and_ll(numbers.dimension)
    if not found:
        return unknown(NOT_PRINTED)
    closed = []
    for dataset, models in found.items():
        most = max(set(models["lc"]) & set(models["ll"]))
        first, last = (models["ll"][d] / models["lc"][d] for d in (fewest[dataset], most))
        if last < first:
            closed.append(dataset)
    return too_few(len(found), "both networks in the dimension study") or ruling(
        len(closed) > len(found) / 2,
        f"LL / LC falls from the fewest to the most task parameters on {len(closed)} of "
        f"{len(found)}: {names(closed)}.",
    )


@claim(
    "Additional task parameters generally improve the performance of both models on all datasets",
    "in at least 80% of the cases some larger dimension is better than the smallest",
)
def more_improve(numbers: Numbers) -> Finding:
    curves = [curve for models in numbers.dimension.values() for curve in models.values()]
    if not curves:
        return unknown(NOT_PRINTED)
    better = sum(min(c[d] for d in c if d > min(c)) < c[min(c)] for c in curves if len(c) > 1)
    return too_few(len(numbers.dimension), "the dimension study") or ruling(
        better >= 0.8 * len(curves),
        f"In {better} of {len(curves)} cases some larger dimension is better than the smallest.",
    )


@claim(
    "There does not seem to be a significant downside to excessively large task parameter "
    "dimensions",
    "in at most 10% of the cases the largest dimension is more than 20% above the best",
)
def no_downside(numbers: Numbers) -> Finding:
    ratios = {
        (dataset, model): curve[max(curve)] / min(curve.values())
        for dataset, models in numbers.dimension.items()
        for model, curve in models.items()
    }
    if not ratios:
        return unknown(NOT_PRINTED)
    harmed = [
        f"{m.upper()} on {dataset_label(d)} {r:.2f}" for (d, m), r in ratios.items() if r > 1.2
    ]
    return too_few(len(numbers.dimension), "the dimension study") or ruling(
        len(harmed) <= 0.1 * len(ratios),
        f"With the most task parameters the error is more than 20% above the best dimension's in "
        f"{len(harmed)} of {len(ratios)} cases: {', '.join(harmed) or 'none'}.",
    )


@claim(
    "both models performing identically for four or more task parameters",
    "on Sine and line LC / LL is between 0.95 and 1.05 for four and more task parameters",
)
def four_suffice(numbers: Numbers) -> Finding:
    models = lc_and_ll(numbers.dimension)[0].get("sine_and_line")
    large = [d for d in (models or {}).get("lc", {}) if d >= 4]
    if not models or not large:
        return unknown(NOT_PRINTED if not numbers.dimension else "Needs Sine and line from 4 on.")
    ratios = {d: models["lc"][d] / models["ll"][d] for d in large if d in models["ll"]}
    shown = ", ".join(f"{d}: {ratio:.2f}" for d, ratio in ratios.items())
    return ruling(
        all(0.95 <= ratio <= 1.05 for ratio in ratios.values()),
        f"On Sine and line, LC / LL by the number of task parameters: {shown}.",
    )


@claim(
    "the last-layer neural network requires a significantly higher number of task parameters",
    "on Frequency LL needs at least twice as many to come within 10% of LC's best error",
)
def frequency_needs_more(numbers: Numbers) -> Finding:
    models = lc_and_ll(numbers.dimension)[0].get("frequency")
    if not models:
        return unknown(NOT_PRINTED if not numbers.dimension else "Needs Frequency.")
    best = min(models["lc"].values())
    reached = {
        m: min((d for d, error in models[m].items() if error <= 1.1 * best), default=None)
        for m in WITH_DIMENSION
    }
    lc, ll = reached["lc"], reached["ll"]
    needed = str(ll) if ll is not None else f"more than {max(models['ll'])}"
    return ruling(
        lc is not None and (ll is None or ll >= 2 * lc),
        f"On Frequency, LC's best error plus 10% is reached with {lc} by LC and with {needed} by "
        "LL.",
    )
