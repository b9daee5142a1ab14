"""Section 5.7: tasks that were held out; and what Section 6 makes of them."""

from __future__ import annotations

from functools import partial

from pipeline.reporting.labels import ESTIMATORS
from pipeline.reporting.numbers import (
    GOOD_ENOUGH,
    Numbers,
    best_errors,
    largest_over_smallest,
    several_dimensions,
)
from pipeline.reporting.sentences import Finding, names, ruling, sentence, too_few, unknown

claim = partial(sentence, "5.7")


@claim(
    "it is able to stay below a 20% error increase for half of the datasets",
    f"the best of the task dimensions is below {GOOD_ENOUGH} on at least half of the datasets, by "
    "LIPO",
)
def below_twenty(numbers: Numbers) -> Finding:
    best = best_errors(numbers.holdout, "lipo")
    below = [d for d, ratio in best.items() if ratio < GOOD_ENOUGH]
    return too_few(len(best), "hold-out results") or ruling(
        len(below) >= len(best) / 2, f"By LIPO on {len(below)} of {len(best)}: {names(below)}."
    )


@claim(
    "the hold-out task performance is never able to match the baseline",
    "the best of the task dimensions is above 1 on every dataset, by LIPO",
)
def never_matches(numbers: Numbers) -> Finding:
    best = best_errors(numbers.holdout, "lipo")
    matched = [d for d, ratio in best.items() if ratio <= 1.0]
    return too_few(len(best), "hold-out results") or ruling(
        not matched, f"By LIPO, at or below the baseline on: {names(matched)}."
    )


@claim(
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
    found = {name: several_dimensions(numbers.holdout, name) for name in ESTIMATORS}
    hurt = {
        name: [d for d, row in rows.items() if row[max(row)] > 1.05 * min(row.values())]
        for name, rows in found.items()
    }
    said = [
        f"By {ESTIMATORS[name]}, the largest dimension is more than 5% above the best one on "
        f"{len(hurt[name])} of {len(rows)} ({names(hurt[name])}); largest / smallest is "
        f"{largest_over_smallest(rows):.2f} on average."
        for name, rows in found.items()
        if rows
    ]
    return too_few(len(found["lipo"]), "hold-out results") or ruling(
        len(hurt["lipo"]) > len(found["lipo"]) / 2, " ".join(said)
    )
