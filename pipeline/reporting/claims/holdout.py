"""Section 5.7: tasks that were held out; and what Section 6 makes of them."""

from __future__ import annotations

from statistics import fmean

from pipeline.reporting.labels import ESTIMATORS
from pipeline.reporting.numbers import Numbers, on_all_rows
from pipeline.reporting.sentences import Finding, names, ruling, sentence, too_few, unknown


def _best(numbers: Numbers) -> dict[str, float]:
    return {d: min(row.values()) for d, row in on_all_rows(numbers.holdout, "lipo").items()}


def _several(numbers: Numbers, estimator: str) -> tuple[dict[str, dict[int, float]], list[str]]:
    """The datasets with several task dimensions, and those where the largest one hurts."""
    found = on_all_rows(numbers.holdout, estimator)
    rows = {dataset: row for dataset, row in found.items() if len(row) > 1}
    return rows, [d for d, row in rows.items() if row[max(row)] > 1.05 * min(row.values())]


@sentence(
    "5.7",
    "it is able to stay below a 20% error increase for half of the datasets",
    "the best of the task dimensions is below 1.2 on at least half of the datasets, by LIPO",
)
def below_twenty(numbers: Numbers) -> Finding:
    best = _best(numbers)
    below = [d for d, ratio in best.items() if ratio < 1.2]
    return too_few(len(best), "hold-out results") or ruling(
        len(below) >= len(best) / 2, f"By LIPO on {len(below)} of {len(best)}: {names(below)}."
    )


@sentence(
    "5.7",
    "the hold-out task performance is never able to match the baseline",
    "the best of the task dimensions is above 1 on every dataset, by LIPO",
)
def never_matches(numbers: Numbers) -> Finding:
    best = _best(numbers)
    matched = [d for d, ratio in best.items() if ratio <= 1.0]
    return too_few(len(best), "hold-out results") or ruling(
        not matched, f"By LIPO, at or below the baseline on: {names(matched)}."
    )


@sentence(
    "5.7",
    "when using fewer data points for the hold-out tasks, a lower task parameter dimension can "
    "be advantageous",
    "from all rows to the fewest, the largest task space loses against the smallest on more "
    "than half of the datasets, by Gauss-Newton",
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


@sentence(
    "6",
    "if the shared network model is to be used for new tasks, then a smaller parameter space "
    "may be preferable",
    "by LIPO, as in the paper: the largest is over 5% above the best on more than half of the "
    "datasets",
)
def large_hurts(numbers: Numbers) -> Finding:
    """By LIPO, as in the paper; where Gauss-Newton disagrees, it is LIPO's doing."""
    rows, hurt = _several(numbers, "lipo")
    return too_few(len(rows), "hold-out results") or ruling(
        len(hurt) > len(rows) / 2,
        " ".join(filter(None, (_harm(numbers, name) for name in ESTIMATORS))),
    )


def _harm(numbers: Numbers, estimator: str) -> str:
    rows, hurt = _several(numbers, estimator)
    if not rows:
        return ""
    mean = fmean(row[max(row)] / row[min(row)] for row in rows.values())
    return (
        f"By {ESTIMATORS[estimator]}, the largest dimension is more than 5% above the best one on "
        f"{len(hurt)} of {len(rows)} ({names(hurt)}); largest / smallest is {mean:.2f} on average."
    )
