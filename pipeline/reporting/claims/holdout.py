"""Section 5.7: tasks that were held out; and what Section 6 makes of them."""

from __future__ import annotations

from statistics import fmean

from pipeline.reporting.labels import ESTIMATORS
from pipeline.reporting.numbers import ALL, Numbers
from pipeline.reporting.sentences import Finding, Sentence, names, ruling, too_few, unknown


def _table_5(numbers: Numbers, estimator: str) -> dict[str, dict[int, float]]:
    return {
        dataset: {d: by_share[ALL] for d, by_share in dimensions.items() if ALL in by_share}
        for dataset, dimensions in numbers.holdout.get(estimator, {}).items()
    }


def below_twenty(numbers: Numbers) -> Finding:
    best = {d: min(row.values()) for d, row in _table_5(numbers, "lipo").items() if row}
    below = [d for d, ratio in best.items() if ratio < 1.2]
    return too_few(len(best), "hold-out results") or ruling(
        len(below) >= len(best) / 2, f"On {len(below)} of {len(best)}: {names(below)}."
    )


def never_matches(numbers: Numbers) -> Finding:
    best = {d: min(row.values()) for d, row in _table_5(numbers, "lipo").items() if row}
    matched = [d for d, ratio in best.items() if ratio <= 1.0]
    return too_few(len(best), "hold-out results") or ruling(
        not matched, f"At or below the baseline on: {names(matched)}."
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
        return unknown("The paper shows these numbers as a figure only.")
    favoured = [d for d, gain in gains.items() if gain > 1]
    return too_few(len(gains), "hold-out results at several shares") or ruling(
        len(favoured) > len(gains) / 2,
        f"From all rows to the fewest, the largest task space loses against the smallest on "
        f"{len(favoured)} of {len(gains)}: {names(favoured)}.",
    )


def large_hurts(numbers: Numbers) -> Finding:
    """By LIPO, as in the paper; where Gauss-Newton disagrees, it is LIPO's doing."""
    rows = {d: r for d, r in _table_5(numbers, "lipo").items() if len(r) > 1}
    hurt = [d for d, row in rows.items() if row[max(row)] > 1.05 * min(row.values())]
    return too_few(len(rows), "hold-out results") or ruling(
        len(hurt) > len(rows) / 2,
        " ".join(filter(None, (_harm(numbers, name) for name in ESTIMATORS))),
    )


def _harm(numbers: Numbers, estimator: str) -> str:
    rows = {d: r for d, r in _table_5(numbers, estimator).items() if len(r) > 1}
    hurt = [d for d, row in rows.items() if row[max(row)] > 1.05 * min(row.values())]
    if not rows:
        return ""
    mean = fmean(row[max(row)] / row[min(row)] for row in rows.values())
    return (
        f"By {ESTIMATORS[estimator]}, the largest dimension is more than 5% above the best one on "
        f"{len(hurt)} of {len(rows)} ({names(hurt)}); largest / smallest is {mean:.2f} on average."
    )


SENTENCES = (
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
        "large_hurts",
        "6",
        "if the shared network model is to be used for new tasks, then a smaller parameter space "
        "may be preferable",
        "by LIPO, as in the paper: the largest is over 5% above the best on more than half of the "
        "datasets",
        large_hurts,
    ),
)
