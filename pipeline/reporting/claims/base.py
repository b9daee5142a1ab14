"""Section 5.4: base performance and repeated training."""

from __future__ import annotations

from functools import partial

from pipeline.reporting.labels import dataset_label, model_style
from pipeline.reporting.numbers import Numbers
from pipeline.reporting.paper import COLUMNS, COMPARED
from pipeline.reporting.sentences import Finding, names, ruling, sentence, too_few, unknown

MULTI_TASK = (*COMPARED, "lme")
claim = partial(sentence, "5.4")


def _complete(
    numbers: Numbers, models: tuple[str, ...] = COLUMNS["base"]
) -> dict[str, dict[str, float]]:
    """The datasets where all these models have an error."""
    return {d: row for d, row in numbers.base.items() if all(model in row for model in models)}


@claim(
    "learned-context and last-layer neural networks being slightly favored over "
    "context-sensitive networks in general",
    "LC and LL each have a lower error than CS on more than half of the datasets",
)
def favoured_over_cs(numbers: Numbers) -> Finding:
    rows = _complete(numbers, COMPARED)
    lc, ll = ([d for d, row in rows.items() if row[m] < row["cs"]] for m in ("lc", "ll"))
    return too_few(len(rows), "all three networks") or ruling(
        min(len(lc), len(ll)) > len(rows) / 2,
        f"Of {len(rows)} datasets, LC is better than CS on {len(lc)} ({names(lc)}), LL on "
        f"{len(ll)} ({names(ll)}).",
    )


@claim(
    "being the top performer in four and five out of the ten datasets respectively",
    "LC has the lowest error on four datasets and LL on five",
)
def four_and_five(numbers: Numbers) -> Finding:
    rows = _complete(numbers, MULTI_TASK)
    best = {d: min(row, key=lambda model: row[model]) for d, row in rows.items()}
    lc, ll = ([d for d, winner in best.items() if winner == m] for m in ("lc", "ll"))
    if len(rows) < 10:
        return unknown(f"{len(rows)} of the ten datasets have all models.")
    return ruling(
        len(lc) == 4 and len(ll) == 5,
        f"LC is best on {len(lc)} ({names(lc)}), LL on {len(ll)} ({names(ll)}).",
    )


@claim(
    "All methods perform similarly on the Schools dataset",
    "the highest error of the six models is within 5% of the lowest",
)
def schools_similar(numbers: Numbers) -> Finding:
    row = _complete(numbers).get("schools")
    if not row:
        return unknown("Schools has no complete results.")
    spread = max(row.values()) / min(row.values())
    return ruling(spread <= 1.05, f"The worst model's error is {spread:.3f} times the best's.")


@claim(
    "none were able to explain more than 35% of the variance",
    "1 − (error / std)² is at most 0.35 for every model",
)
def schools_variance(numbers: Numbers) -> Finding:
    row, std = _complete(numbers).get("schools"), numbers.std.get("schools")
    if not row or not std:
        return unknown("Schools has no complete results.")
    explained = {m: 1 - (error / std) ** 2 for m, error in row.items()}
    best = max(explained, key=lambda m: explained[m])
    return ruling(
        explained[best] <= 0.35,
        f"{model_style(best).label} explains {explained[best]:.1%} of the variance.",
    )


@claim(
    "The linear mixed model performed well on two of the datasets, Schools and Parkinson",
    "LME is within 10% of the best network on both",
)
def lme_good(numbers: Numbers) -> Finding:
    rows = _complete(numbers, MULTI_TASK)
    if not {"schools", "parkinson"} <= set(rows):
        return unknown("Schools and Parkinson are both needed.")
    ratios = {d: rows[d]["lme"] / min(rows[d][m] for m in COMPARED) for d in rows}
    good = [d for d, ratio in ratios.items() if ratio <= 1.10]
    shown = ", ".join(f"{dataset_label(d)} {ratios[d]:.2f}" for d in ("schools", "parkinson"))
    return ruling(
        {"schools", "parkinson"} <= set(good),
        f"LME's error relative to the best network's: {shown}. Within 10%: {names(good)}.",
    )


@claim(
    "For all datasets, it is beneficial to include the multi-task aspect",
    "the best multi-task model is better than both models that ignore the task",
)
def multi_task_helps(numbers: Numbers) -> Finding:
    rows = _complete(numbers)
    against = [d for d, r in rows.items() if min(r[m] for m in MULTI_TASK) >= min(r["lr"], r["fs"])]
    return too_few(len(rows), "all models") or ruling(
        not against, f"On {len(rows)} datasets; against it: {names(against)}."
    )


@claim(
    "for many cases, the linear varying intercept model performs better than a fully shared "
    "neural network",
    "LME is better than FS on at least half of the datasets",
)
def lme_beats_shared(numbers: Numbers) -> Finding:
    rows = _complete(numbers)
    better = [d for d, row in rows.items() if row["lme"] < row["fs"]]
    return too_few(len(rows), "all models") or ruling(
        len(better) >= len(rows) / 2, f"On {len(better)} of {len(rows)}: {names(better)}."
    )


@claim(
    "Overall the results are quite consistent",
    "in more than half of the cases the worst training is within 10% of the best one",
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
        narrow > len(spans) / 2,
        f"Within 10% of each other in {narrow} of {len(spans)} cases; the widest is "
        f"{model_style(model).label} on {dataset_label(dataset)}, {widest:.2f} times.",
    )
