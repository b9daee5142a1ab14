"""What `results/benchmarks/arena.json` holds: written by benchmarks/arena, read by the report."""

from __future__ import annotations

from pipeline.checked import Checked


class Rules(Checked):
    test_share: float
    splits: int
    held_out_share: float
    most_held_out: int
    arriving: list[int]
    most_rows: int
    """Larger tables are thinned to this many rows, evenly over the tasks."""
    fit_seconds: int
    """Processor time after which a fit has failed."""
    level: float
    """Of the intervals."""


class ContestantEntry(Checked):
    name: str
    title: str
    ours: bool
    package: str
    version: str
    note: str
    known_splits: int
    new_splits: int
    most_rows: dict[str, int]
    """Of a track ("known", "new"): larger tables were left out for the time they would take."""


class DatasetEntry(Checked):
    name: str
    label: str
    source: str
    why: str
    task: str
    target: str
    numbers: list[str]
    categories: list[str]
    logs: list[str]
    rows: int
    source_rows: int
    tasks: int
    paper_edition: bool
    digest: str


class ArenaResult(Checked):
    """One contestant on one dataset, over its splits. All numbers are missing if it failed."""

    splits: int
    failure: str | None = None
    rmse: float | None = None
    relative: float | None = None
    """RMSE divided by that of the dataset's best contestant."""
    rank: float | None = None
    fit_seconds: float | None = None
    """Median over the splits, processor time on one thread."""
    predict_seconds: float | None = None
    coverage: float | None = None
    width: float | None = None
    """Of the 90% intervals, in standard deviations of the dataset's target."""


class Standing(Checked):
    """One line of the leaderboard."""

    contestant: str
    datasets: int
    failed: int
    mean_rank: float
    mean_relative: float | None
    """Mean of `relative` over the datasets on which it did not fail."""
    best: int
    """Datasets on which it has the least error."""
    fit_seconds: float | None
    """Median over the datasets."""
    covered: int | None = None
    """Datasets on which its 90% intervals cover 85 to 95% of the test rows."""


class CriticalDifference(Checked):
    """Friedman and Nemenyi, over the contestants that took part on every dataset."""

    contestants: list[str]
    mean_ranks: list[float]
    datasets: int
    friedman_p: float
    difference: float
    """Mean ranks that are closer do not differ at the 5% level."""
    groups: list[list[str]]
    """Largest sets of contestants that do not differ."""


class Duel(Checked):
    """Of the datasets that both contestants have: where the first is at least as good."""

    at_least_as_good: int
    datasets: int


class TrackTable(Checked):
    results: dict[str, dict[str, ArenaResult]]
    """Dataset, then contestant."""
    standings: list[Standing]
    """Best mean rank first."""
    critical_difference: CriticalDifference | None
    duels: dict[str, dict[str, Duel]]


class Target(Checked):
    track: str
    what: str
    wanted: str
    measured: str
    met: bool


class Loss(Checked):
    """A dataset on which another contestant is better than ours."""

    track: str
    dataset: str
    relative: float | None
    """Our error divided by the best one's; None if ours failed."""
    best: str


class Arena(Checked):
    rules: Rules
    versions: dict[str, str]
    library: str
    """Digest of the code of `learned_context` that ours ran with."""
    contestants: list[ContestantEntry]
    datasets: list[DatasetEntry]
    known: TrackTable
    new: dict[str, TrackTable]
    """Track 2, by the number of rows with which a task arrives."""
    targets: list[Target]
    losses: list[Loss]
    missing: list[str]
    """Cells that were not computed: track/contestant/dataset/split. A dataset is in a track's
    table only if every contestant that takes part in it has its first split."""
