"""Sentences of Sections 5.4 and 5.5: base performance, repeats, data size."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import fmean

from pipeline.reporting.labels import MODELS, dataset_label
from pipeline.reporting.numbers import ALL, Numbers
from pipeline.reporting.sentences import Finding, Sentence, ruling, too_few, unknown

NETWORKS = ("lc", "cs", "ll")
MULTI_TASK = ("lc", "cs", "ll", "lme")


def _complete(
    numbers: Numbers, models: tuple[str, ...] = tuple(MODELS)
) -> dict[str, dict[str, float]]:
    """The datasets where all these models have an error."""
    return {d: row for d, row in numbers.base.items() if all(model in row for model in models)}


def _names(datasets: Iterable[str]) -> str:
    return ", ".join(dataset_label(d) for d in datasets) or "none"


def _winners(numbers: Numbers) -> dict[str, list[str]]:
    rows = _complete(numbers, MULTI_TASK)
    best = {d: min(row, key=lambda model: row[model]) for d, row in rows.items()}
    return {model: [d for d, winner in best.items() if winner == model] for model in MODELS}


def lc_or_ll_best(numbers: Numbers) -> Finding:
    rows = _complete(numbers, MULTI_TASK)
    winners = _winners(numbers)
    count = len(winners["lc"]) + len(winners["ll"])
    evidence = "; ".join(f"{MODELS[m].label}: {_names(d)}" for m, d in winners.items() if d)
    return too_few(len(rows), "all models") or ruling(
        count > len(rows) / 2, f"Best on {count} of {len(rows)}. {evidence}."
    )


def four_and_five(numbers: Numbers) -> Finding:
    winners, total = _winners(numbers), len(_complete(numbers, MULTI_TASK))
    lc, ll = winners["lc"], winners["ll"]
    if total < 10:
        return unknown(f"{total} of the ten datasets have all models.")
    return ruling(
        len(lc) == 4 and len(ll) == 5,
        f"LC is best on {len(lc)} ({_names(lc)}), LL on {len(ll)} ({_names(ll)}).",
    )


def cs_behind(numbers: Numbers) -> Finding:
    """On average over datasets, at every size."""
    parts, behind, least = [], [], 10
    for share in sorted(numbers.sizes, reverse=True):
        rows = [r for r in numbers.sizes[share].values() if all(m in r for m in NETWORKS)]
        least = min(least, len(rows))
        if rows:
            mean = {m: fmean(row[m] for row in rows) for m in NETWORKS}
            behind.append(mean["cs"] > mean["lc"] and mean["cs"] > mean["ll"])
            shown = ", ".join(f"{MODELS[m].label} {mean[m]:.3f}" for m in NETWORKS)
            parts.append(f"{share:.0%}: {shown}")
    return too_few(least if parts else 0, "all three networks") or ruling(
        all(behind), "Mean error / std: " + "; ".join(parts) + "."
    )


def schools_similar(numbers: Numbers) -> Finding:
    row = _complete(numbers).get("schools")
    if not row:
        return unknown("Schools has no complete results.")
    spread = max(row.values()) / min(row.values())
    return ruling(spread <= 1.05, f"The worst model's error is {spread:.3f} times the best's.")


def schools_variance(numbers: Numbers) -> Finding:
    row, std = _complete(numbers).get("schools"), numbers.std.get("schools")
    if not row or not std:
        return unknown("Schools has no complete results.")
    explained = {m: 1 - (error / std) ** 2 for m, error in row.items()}
    best = max(explained, key=lambda m: explained[m])
    return ruling(
        explained[best] <= 0.35,
        f"{MODELS[best].label} explains {explained[best]:.1%} of the variance.",
    )


def lme_good(numbers: Numbers) -> Finding:
    rows = _complete(numbers, MULTI_TASK)
    if not {"schools", "parkinson"} <= set(rows):
        return unknown("Schools and Parkinson are both needed.")
    ratios = {d: rows[d]["lme"] / min(rows[d][m] for m in NETWORKS) for d in rows}
    good = [d for d, ratio in ratios.items() if ratio <= 1.10]
    shown = ", ".join(f"{dataset_label(d)} {ratios[d]:.2f}" for d in ("schools", "parkinson"))
    return ruling(
        {"schools", "parkinson"} <= set(good),
        f"LME's error relative to the best network's: {shown}. Within 10%: {_names(good)}.",
    )


def multi_task_helps(numbers: Numbers) -> Finding:
    rows = _complete(numbers)
    against = [d for d, r in rows.items() if min(r[m] for m in MULTI_TASK) >= min(r["lr"], r["fs"])]
    return too_few(len(rows), "all models") or ruling(
        not against, f"On {len(rows)} datasets; against it: {_names(against)}."
    )


def lme_beats_shared(numbers: Numbers) -> Finding:
    rows = _complete(numbers)
    better = [d for d, row in rows.items() if row["lme"] < row["fs"]]
    return too_few(len(rows), "all models") or ruling(
        len(better) >= 0.4 * len(rows), f"On {len(better)} of {len(rows)}: {_names(better)}."
    )


def consistent(numbers: Numbers) -> Finding:
    spans = {
        (d, m): cell.high / cell.low
        for d, row in numbers.repeats.items()
        for m, cell in row.items()
    }
    if not spans:
        return unknown("No repeated trainings.")
    narrow = sum(span <= 1.10 for span in spans.values())
    (dataset, model), widest = max(spans.items(), key=lambda item: item[1])
    return too_few(len(numbers.repeats), "repeated trainings") or ruling(
        narrow >= 0.6 * len(spans),
        f"Within 10% of each other in {narrow} of {len(spans)} cases; the widest is "
        f"{MODELS[model].label} on {dataset_label(dataset)}, {widest:.2f} times.",
    )


def lc_loses_least(numbers: Numbers) -> Finding:
    full, small = numbers.sizes.get(ALL, {}), numbers.sizes.get(0.1, {})
    both = [d for d in full if d in small and all(m in full[d] and m in small[d] for m in NETWORKS)]
    finding = too_few(len(both), "all networks at 100% and 10%")
    if finding:
        return finding
    lost = {m: fmean(small[d][m] - full[d][m] for d in both) for m in NETWORKS}
    shown = ", ".join(f"{MODELS[m].label} {lost[m]:+.3f}" for m in NETWORKS)
    return ruling(
        lost["lc"] == min(lost.values()), f"Mean rise of error / std from 100% to 10%: {shown}."
    )


def improved_at_ten(numbers: Numbers) -> Finding:
    named = ("obesity", "height", "sarcos")
    full, small = numbers.sizes.get(ALL, {}), numbers.sizes.get(0.1, {})
    both = [d for d in full if d in small]
    if not set(named) <= set(both):
        return unknown("Obesity, Height and Sarcos are all needed, at 100% and 10%.")
    better = {
        d: [MODELS[m].label for m in NETWORKS if m in full[d] and small[d].get(m, 9e9) < full[d][m]]
        for d in both
    }
    shown = ", ".join(f"{dataset_label(d)} ({', '.join(m)})" for d, m in better.items() if m)
    return ruling(
        all(better[d] for d in named) and not any(better[d] for d in both if d not in named),
        f"Some network is better with 10% of the rows on: {shown or 'none'}.",
    )


SENTENCES = (
    Sentence(
        "best_on_most",
        "5.4",
        "learned-context and last-layer neural networks being slightly favored over "
        "context-sensitive networks in general",
        "LC or LL has the lowest error of the multi-task models on more than half of the datasets",
        lc_or_ll_best,
    ),
    Sentence(
        "four_and_five",
        "5.4",
        "being the top performer in four and five out of the ten datasets respectively",
        "LC has the lowest error on four datasets and LL on five",
        four_and_five,
    ),
    Sentence(
        "schools_similar",
        "5.4",
        "All methods perform similarly on the Schools dataset",
        "the highest error of the six models is within 5% of the lowest",
        schools_similar,
    ),
    Sentence(
        "schools_variance",
        "5.4",
        "none were able to explain more than 35% of the variance",
        "1 − (error / std)² is at most 0.35 for every model",
        schools_variance,
    ),
    Sentence(
        "lme_good",
        "5.4",
        "The linear mixed model performed well on two of the datasets, Schools and Parkinson",
        "LME is within 10% of the best network on both",
        lme_good,
    ),
    Sentence(
        "multi_task_helps",
        "5.4",
        "For all datasets, it is beneficial to include the multi-task aspect",
        "the best multi-task model is better than both models that ignore the task",
        multi_task_helps,
    ),
    Sentence(
        "lme_beats_shared",
        "5.4",
        "for many cases, the linear varying intercept model performs better than a fully shared "
        "neural network",
        "LME is better than FS on at least 40% of the datasets",
        lme_beats_shared,
    ),
    Sentence(
        "consistent",
        "5.4",
        "Overall the results are quite consistent",
        "in at least 60% of the cases the worst training is within 10% of the best one",
        consistent,
    ),
    Sentence(
        "cs_behind",
        "5.5",
        "Context-sensitive networks are on average slightly behind the others on all data sizes",
        "the mean of error / std over datasets is highest for CS at every size",
        cs_behind,
    ),
    Sentence(
        "lc_loses_least",
        "5.5",
        "the learned-context architecture is less sensitive to this than the others",
        "the mean rise of error / std from 100% to 10% of the rows is lowest for LC",
        lc_loses_least,
    ),
    Sentence(
        "improved_at_ten",
        "5.5",
        "three datasets stand out with an improved performance, namely Obesity, Height, and Sarcos",
        "some network is better with 10% of the rows on these three, and on no other",
        improved_at_ten,
    ),
)
