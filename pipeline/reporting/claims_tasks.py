"""Sentences of Sections 5.6 and 5.7: the task dimension, and hold-out tasks."""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean

from pipeline.reporting.labels import ESTIMATORS, dataset_label
from pipeline.reporting.numbers import ALL, Numbers
from pipeline.reporting.sentences import Finding, Sentence, ruling, too_few, unknown

NOT_PRINTED = "The paper shows these numbers as a figure only."


def _both(numbers: Numbers) -> dict[str, dict[str, dict[int, float]]]:
    return {d: m for d, m in numbers.dimension.items() if "lc" in m and "ll" in m}


def _names(datasets: list[str]) -> str:
    return ", ".join(map(dataset_label, datasets)) or "none"


def fewer_needed(numbers: Numbers) -> Finding:
    found = _both(numbers)
    if not found:
        return unknown(NOT_PRINTED)
    lowest = {d: min(set(m["lc"]) & set(m["ll"])) for d, m in found.items()}
    better = [d for d, m in found.items() if m["lc"][lowest[d]] < m["ll"][lowest[d]]]
    return too_few(len(found), "both networks in the dimension study") or ruling(
        len(better) > len(found) / 2,
        f"With the fewest task parameters LC is better on {len(better)} of {len(found)}: "
        f"{_names(better)}.",
    )


def gap_closes(numbers: Numbers) -> Finding:
    found = _both(numbers)
    if not found:
        return unknown(NOT_PRINTED)
    closed = []
    for dataset, models in found.items():
        dimensions = sorted(set(models["lc"]) & set(models["ll"]))
        first, last = (models["ll"][d] / models["lc"][d] for d in (dimensions[0], dimensions[-1]))
        if last < first:
            closed.append(dataset)
    return too_few(len(found), "both networks in the dimension study") or ruling(
        len(closed) > len(found) / 2,
        f"LL / LC falls from the fewest to the most task parameters on {len(closed)} of "
        f"{len(found)}: {_names(closed)}.",
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


def four_suffice(numbers: Numbers) -> Finding:
    models = _both(numbers).get("sine_and_line")
    large = [d for d in (models or {}).get("lc", {}) if d >= 4]
    if not models or not large:
        return unknown(NOT_PRINTED if not numbers.dimension else "Needs Sine and line from 4 on.")
    ratios = {d: models["lc"][d] / models["ll"][d] for d in large if d in models["ll"]}
    shown = ", ".join(f"{d}: {ratio:.2f}" for d, ratio in ratios.items())
    return ruling(
        all(0.9 <= ratio <= 1.1 for ratio in ratios.values()), f"LC / LL by dimension: {shown}."
    )


def frequency_needs_more(numbers: Numbers) -> Finding:
    models = _both(numbers).get("frequency")
    if not models:
        return unknown(NOT_PRINTED if not numbers.dimension else "Needs Frequency.")
    best = min(models["lc"].values())
    reached = {
        m: min((d for d, error in models[m].items() if error <= 1.1 * best), default=None)
        for m in ("lc", "ll")
    }
    lc, ll = reached["lc"], reached["ll"]
    needed = str(ll) if ll is not None else f"more than {max(models['ll'])}"
    return ruling(
        lc is not None and (ll is None or ll >= 2 * lc),
        f"Within 10% of LC's best error: LC with {lc}, LL with {needed} task parameters.",
    )


def _table_5(numbers: Numbers, estimator: str) -> dict[str, dict[int, float]]:
    return {
        dataset: {d: by_share[ALL] for d, by_share in dimensions.items() if ALL in by_share}
        for dataset, dimensions in numbers.holdout.get(estimator, {}).items()
    }


def below_twenty(numbers: Numbers) -> Finding:
    best = {d: min(row.values()) for d, row in _table_5(numbers, "lipo").items() if row}
    below = [d for d, ratio in best.items() if ratio < 1.2]
    return too_few(len(best), "hold-out results") or ruling(
        len(below) >= len(best) / 2, f"On {len(below)} of {len(best)}: {_names(below)}."
    )


def never_matches(numbers: Numbers) -> Finding:
    best = {d: min(row.values()) for d, row in _table_5(numbers, "lipo").items() if row}
    matched = [d for d, ratio in best.items() if ratio <= 1.0]
    return too_few(len(best), "hold-out results") or ruling(
        not matched, f"At or below the baseline on: {_names(matched)}."
    )


def small_with_few_points(numbers: Numbers) -> Finding:
    """How much the smallest task space gains on the largest from all rows to the fewest."""
    found = numbers.holdout.get("gauss_newton", {})
    gains = {}
    for dataset, by_dimension in found.items():
        small, large = by_dimension[min(by_dimension)], by_dimension[max(by_dimension)]
        shares = sorted(set(small) & set(large))
        if len(shares) > 1:
            few, many = shares[0], shares[-1]
            gains[dataset] = (large[few] / small[few]) / (large[many] / small[many])
    if not gains:
        return unknown(NOT_PRINTED)
    favoured = [d for d, gain in gains.items() if gain > 1]
    return too_few(len(gains), "hold-out results at several shares") or ruling(
        len(favoured) > len(gains) / 2,
        f"From all rows to the fewest, the largest task space loses against the smallest on "
        f"{len(favoured)} of {len(gains)}: {_names(favoured)}.",
    )


def large_hurts(estimator: str) -> Callable[[Numbers], Finding]:
    def judge(numbers: Numbers) -> Finding:
        rows = {d: r for d, r in _table_5(numbers, estimator).items() if len(r) > 1}
        if not rows:
            return unknown(f"No hold-out results by {ESTIMATORS[estimator]}.")
        hurt = [d for d, row in rows.items() if row[max(row)] > 1.05 * min(row.values())]
        mean = fmean(row[max(row)] / row[min(row)] for row in rows.values())
        return too_few(len(rows), "hold-out results") or ruling(
            len(hurt) > len(rows) / 2,
            f"By {ESTIMATORS[estimator]}, the largest dimension is more than 5% above the best one "
            f"on {len(hurt)} of {len(rows)} ({_names(hurt)}); largest / smallest is {mean:.2f} on "
            "average.",
        )

    return judge


SENTENCES = (
    Sentence(
        "fewer_needed",
        "5.6",
        "the learned-context neural networks achieve better performance with fewer task parameters",
        "with the fewest task parameters LC is better than LL on more than half of the datasets",
        fewer_needed,
    ),
    Sentence(
        "gap_closes",
        "5.6",
        "but the gap is closed as the number increases",
        "LL's error relative to LC's falls from the fewest to the most, on more than half",
        gap_closes,
    ),
    Sentence(
        "more_improve",
        "5.6",
        "Additional task parameters generally improve the performance of both models on all "
        "datasets",
        "in at least 80% of the cases some larger dimension is better than the smallest",
        more_improve,
    ),
    Sentence(
        "no_downside",
        "5.6",
        "There does not seem to be a significant downside to excessively large task parameter "
        "dimensions",
        "in at most 10% of the cases the largest dimension is more than 20% above the best",
        no_downside,
    ),
    Sentence(
        "four_suffice",
        "5.6",
        "both models performing identically for four or more task parameters",
        "on Sine and line LC / LL is between 0.9 and 1.1 for four and more task parameters",
        four_suffice,
    ),
    Sentence(
        "frequency_needs_more",
        "5.6",
        "the last-layer neural network requires a significantly higher number of task parameters",
        "on Frequency LL needs at least twice as many to come within 10% of LC's best error",
        frequency_needs_more,
    ),
    Sentence(
        "below_twenty",
        "5.7",
        "it is able to stay below a 20% error increase for half of the datasets",
        "the best of the task dimensions is below 1.2 on at least half of the datasets, by LIPO",
        below_twenty,
    ),
    Sentence(
        "never_matches",
        "5.7",
        "the hold-out task performance is never able to match the baseline",
        "the best of the task dimensions is above 1 on every dataset, by LIPO",
        never_matches,
    ),
    Sentence(
        "small_with_few_points",
        "5.7",
        "when using fewer data points for the hold-out tasks, a lower task parameter dimension can "
        "be advantageous",
        "from all rows to the fewest, the largest task space loses against the smallest on more "
        "than half of the datasets, by Gauss-Newton",
        small_with_few_points,
    ),
    Sentence(
        "large_hurts_lipo",
        "6",
        "if the shared network model is to be used for new tasks, then a smaller parameter space "
        "may be preferable",
        "by LIPO, as in the paper: the largest is over 5% above the best on more than half",
        large_hurts("lipo"),
    ),
    Sentence(
        "large_hurts_gauss_newton",
        "6",
        "if the shared network model is to be used for new tasks, then a smaller parameter space "
        "may be preferable",
        "the same by Gauss-Newton: where it fails here and holds above, it is LIPO's doing",
        large_hurts("gauss_newton"),
    ),
)
