"""Every number of Tables 1 to 6: ours, the paper's, and what to say of the two.

Only a result can match, be better or be worse. An input (a size, a range, a number of restarts, an
error by which our rows were chosen, an interval that contains one by construction) agrees with the
paper's or differs from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pipeline.reporting.numbers import (
    ALL,
    Numbers,
    RepeatsCell,
    from_paper,
    properties,
    search_range,
)
from pipeline.reporting.paper import Kind, PaperCell
from pipeline.reporting.results import Results

Verdict = Literal["matches", "better", "worse", "agrees", "differs", "not comparable", "missing"]
RESULT_VERDICTS: tuple[Verdict, ...] = ("matches", "better", "worse", "not comparable", "missing")
INPUT_VERDICTS: tuple[Verdict, ...] = ("agrees", "differs", "not comparable", "missing")
VERDICTS: dict[Kind, tuple[Verdict, ...]] = {"result": RESULT_VERDICTS, "input": INPUT_VERDICTS}
JUDGED: tuple[Verdict, ...] = ("matches", "better", "worse")
"""Of results that can be compared."""
OPEN: tuple[Verdict, ...] = ("worse", "better", "differs")
"""These need an explanation: a number that is much better as much as one that is worse."""
PRINTED = 0.005
"""Table 3 has two decimals."""


@dataclass(frozen=True)
class Compared:
    cell: str
    table: str
    row: str
    column: str
    kind: Kind
    same_as: str
    """The cell whose verdict this number shares; empty if it has one of its own."""
    ours: float | None
    paper: float
    ratio: float | None
    """Of ours to the paper's; an error of Table 2 is taken as exactly as the paper tells it."""
    allowed: float
    reason: str
    bound: bool
    """The paper's number is an upper bound: any lower one matches."""
    comparable: bool | None
    verdict: Verdict
    note: str
    in_part: bool
    """The note explains a part of the difference."""
    command: str
    highest: float | None = None
    """What the paper's error of Table 2 is at most, by the digits that it prints."""
    by_lme: float | None = None
    """Our error relative to our linear mixed model's on the same rows: no luck of the split."""
    paper_by_lme: float | None = None

    @property
    def is_open(self) -> bool:
        """Whether it needs an explanation; numbers that share a verdict need one."""
        return self.is_surprising and not self.same_as

    @property
    def is_surprising(self) -> bool:
        return self.verdict in OPEN or self.is_far_below

    @property
    def is_far_below(self) -> bool:
        """A match that is below an upper bound by more than the tolerance."""
        is_below = self.ours is not None and self.ours < self.paper - self.allowed
        return self.bound and self.verdict == "matches" and is_below

    @property
    def at_most_the_papers(self) -> bool:
        """Not above any error that the paper's digits allow."""
        return self.ours is not None and self.highest is not None and self.ours <= self.highest

    @property
    def unexplained(self) -> bool:
        return self.is_open and not self.note


def compare_all(results: Results, numbers: Numbers) -> list[Compared]:
    """In the order of the tables; a cell comes after the one whose verdict it shares."""
    editions = {dataset: info.edition for dataset, info in results.infos().items()}
    printed = from_paper(results.paper)
    found: dict[str, Compared] = {}
    for cell in results.paper.cells(results.settings.params.profile, editions):
        std = _same_deviation(results, found.get(f"datasets/{cell.row}/std"))
        found[cell.name] = _compare(results, numbers, printed, cell, found.get(cell.same_as), std)
    return list(found.values())


def _same_deviation(results: Results, std: Compared | None) -> float | None:
    """Our target's deviation if it rounds to the paper's, as another draw's need not; or None."""
    if std is None or std.verdict != "agrees":
        return None
    return std.ours if std.allowed <= results.paper.tables["datasets"].rounding("std") else None


def _compare(
    results: Results,
    numbers: Numbers,
    printed: Numbers,
    cell: PaperCell,
    shared: Compared | None,
    std: float | None,
) -> Compared:
    # Table 6 is of no dataset.
    comparable = True if cell.table == "space" else results.comparable(cell.row)
    ours, judged_as = _ours(results, numbers, cell), shared or cell
    if shared is not None:
        said = shared.verdict
    elif cell.table == "repeats" and cell.column.endswith("min"):
        model = cell.column.split()[0]
        here, there = (rows.repeats.get(cell.row, {}).get(model) for rows in (numbers, printed))
        said = interval_verdict(here, there, comparable, cell.kind)
    else:
        said = verdict(cell, ours, comparable)
    paper, highest, by_lme, paper_by_lme = cell.value, None, None, None
    if cell.table == "base":
        known = std if comparable else None
        if left_open := results.paper.error_range(cell.row, cell.column, known):
            paper, highest = sum(left_open) / 2, left_open[1]
        by_lme = _relative(ours, numbers.base.get(cell.row, {}).get("lme"))
        paper_by_lme = _relative(paper, printed.base.get(cell.row, {}).get("lme"))
    ratio, allowed = _relative(ours, paper), cell.allowed
    if shared is not None and cell.table == "sizes":  # the error of Table 2, normalised
        ratio = shared.ratio
        if cell.row in numbers.std:
            allowed = shared.allowed / numbers.std[cell.row]
    compared = Compared(
        cell=cell.name,
        table=cell.table,
        row=cell.row,
        column=cell.column,
        kind=cell.kind,
        same_as=cell.same_as,
        ours=ours,
        paper=cell.value,
        ratio=ratio,
        allowed=allowed,
        reason=judged_as.reason,
        bound=judged_as.bound,
        comparable=comparable,
        verdict=said,
        note=judged_as.note,
        in_part=judged_as.in_part,
        command=judged_as.command,
        highest=highest,
        by_lme=by_lme,
        paper_by_lme=paper_by_lme,
    )
    if compared.is_surprising:
        return compared
    # A note's pattern may cover numbers that need none.
    return replace(compared, note="", in_part=False, command="")


def verdict(cell: PaperCell, ours: float | None, comparable: bool | None) -> Verdict:
    if ours is None:
        return "missing"
    if not comparable:  # also where nobody says of which data ours is
        return "not comparable"
    slack = cell.allowed + 1e-12 * abs(cell.value)  # a bound that is met exactly is met
    within = abs(ours - cell.value) <= slack
    if cell.kind == "input":
        return "agrees" if within else "differs"
    if within or (cell.bound and ours < cell.value):
        return "matches"
    return "better" if ours < cell.value else "worse"


def interval_verdict(
    ours: RepeatsCell | None,
    paper: RepeatsCell | None,
    comparable: bool | None,
    kind: Kind = "result",
) -> Verdict:
    """Table 3: do the errors of ten trainings here and there overlap?"""
    if ours is None or paper is None:
        return "missing"
    if not comparable:
        return "not comparable"
    above, below = ours.low > paper.high + PRINTED, ours.high < paper.low - PRINTED
    if kind == "input":
        return "differs" if above or below else "agrees"
    return "worse" if above else "better" if below else "matches"


Pair = tuple[str, str]


@dataclass(frozen=True)
class Ranking:
    """Table 3's other finding: which network is ahead of which, on one dataset."""

    dataset: str
    ours: tuple[Pair, ...]
    paper: tuple[Pair, ...]
    """Pairs of networks where every training of the first is below all of the second."""

    @property
    def kept(self) -> tuple[Pair, ...]:
        """The paper's pairs that are in the same order here."""
        return tuple(pair for pair in self.paper if pair in self.ours)

    @property
    def reversed(self) -> tuple[Pair, ...]:
        """The paper's pairs that are the other way round here."""
        return tuple((a, b) for a, b in self.paper if (b, a) in self.ours)


def rankings(results: Results, numbers: Numbers) -> list[Ranking]:
    """For every comparable dataset with repeated trainings of two networks or more."""
    printed, found = from_paper(results.paper), []
    for dataset, row in printed.repeats.items():
        here = numbers.repeats.get(dataset, {})
        if len(here) > 1 and results.comparable(dataset):
            found.append(Ranking(dataset, _order(here), _order(row)))
    return found


def _order(row: Mapping[str, RepeatsCell]) -> tuple[Pair, ...]:
    return tuple((a, b) for a in row for b in row if row[a].high + PRINTED < row[b].low - PRINTED)


def _relative(error: float | None, reference: float | None) -> float | None:
    return error / reference if error is not None and reference else None


def _ours(results: Results, numbers: Numbers, cell: PaperCell) -> float | None:
    """The place of one printed number among ours."""
    table, row, column = cell.table, cell.row, cell.column
    if table == "space":
        low, high = search_range(results.settings, row)
        return float(low if column == "low" else high)
    if table == "datasets":
        return properties(results.info(row)).get(column)
    if table == "base":
        return numbers.base.get(row, {}).get(column)
    if table == "repeats":
        model, what = column.split()
        found = numbers.repeats.get(row, {}).get(model)
        if found is None:
            return None
        return {"min": found.low, "max": found.high, "diverged": found.diverged}[what]
    if table == "sizes":
        model, share = column.split()
        return numbers.sizes.get(float(share), {}).get(row, {}).get(model)
    # The paper's Table 5 is by LIPO.
    return numbers.holdout.get("lipo", {}).get(row, {}).get(int(column), {}).get(ALL)


def counts(compared: Sequence[Compared], kind: Kind = "result") -> dict[Verdict, int]:
    """How often each verdict was given; numbers that share one are counted once."""
    own = [c.verdict for c in compared if c.kind == kind and not c.same_as]
    return {name: own.count(name) for name in VERDICTS[kind]}
