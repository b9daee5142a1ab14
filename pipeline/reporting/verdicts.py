"""Every number of Tables 1 to 6: ours, the paper's, and what to say of the two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from pipeline.reporting.labels import HYPERPARAMETERS
from pipeline.reporting.numbers import ALL, Numbers, properties
from pipeline.reporting.paper import PaperCell
from pipeline.reporting.results import Results

Verdict = Literal["matches", "better", "differs", "not comparable", "missing"]
VERDICTS: tuple[Verdict, ...] = ("matches", "better", "differs", "not comparable", "missing")


@dataclass(frozen=True)
class Compared:
    cell: str
    table: str
    row: str
    column: str
    ours: float | None
    paper: float
    ratio: float | None
    allowed: float
    reason: str
    comparable: bool | None
    verdict: Verdict
    note: str

    @property
    def unexplained(self) -> bool:
        return self.verdict == "differs" and not self.note

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def compare_all(results: Results, numbers: Numbers) -> list[Compared]:
    cells = results.paper.cells(results.settings.params.profile)
    return [_compare(results, cell, _ours(results, numbers, cell)) for cell in cells]


def _compare(results: Results, cell: PaperCell, ours: float | None) -> Compared:
    comparable: bool | None = True  # Table 6 is of no dataset
    if cell.table != "space":
        comparable = results.comparable(cell.row) if cell.row in results.datasets else None
    return Compared(
        cell.name,
        cell.table,
        cell.row,
        cell.column,
        ours,
        cell.value,
        ours / cell.value if ours is not None and cell.value else None,
        cell.allowed,
        cell.reason,
        comparable,
        verdict(cell, ours, comparable),
        cell.note,
    )


def verdict(cell: PaperCell, ours: float | None, comparable: bool | None) -> Verdict:
    if ours is None:
        return "missing"
    if not comparable:  # also where nobody says of which data ours is
        return "not comparable"
    slack = cell.allowed + 1e-12 * abs(cell.value)  # a bound that is met exactly is met
    if abs(ours - cell.value) <= slack:
        return "matches"
    return "better" if cell.lower_is_better and ours < cell.value else "differs"


def _ours(results: Results, numbers: Numbers, cell: PaperCell) -> float | None:
    """The place of one printed number among ours."""
    table, row, column = cell.table, cell.row, cell.column
    if table == "space":
        return _space(results, row, column)
    if row not in results.datasets:
        return None
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


def _space(results: Results, name: str, column: str) -> float:
    assert name in HYPERPARAMETERS
    low, high = getattr(results.settings.params.space, name)
    if name == "width":
        high = max(low, min(high, results.settings.profile.search.width_max))
    return float(low if column == "low" else high)


def counts(compared: Sequence[Compared]) -> dict[Verdict, int]:
    return {name: sum(c.verdict == name for c in compared) for name in VERDICTS}
