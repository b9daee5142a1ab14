"""What an audit reports: its checks, and the findings of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import zip_longest
from typing import Any

from learned_context.errors import UserError, printable
from pipeline.reporting.formatting import plural

SHOWN = 60
"""Characters of a value that are shown whole; of a longer one, the part that differs."""
ABSENT = "nothing"


@dataclass(frozen=True)
class AuditFinding:
    """Something that is not as it should be."""

    where: str
    what: str
    look: str
    """How to look closer, or the remedy."""


@dataclass
class AuditCheck:
    """One claim, at how many places it was examined, and where it does not hold."""

    name: str
    claim: str
    examined: int = 0
    findings: list[AuditFinding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What a reader should know and is no fault; why a check was not made, for example."""

    @property
    def verdict(self) -> str:
        if self.findings:
            return f"{len(self.findings)} found"
        return "ok" if self.examined else "not checked"

    def expect(self, holds: bool, where: str, what: str, look: str) -> bool:
        """Examine one place; unless the claim `holds` there, report a finding."""
        self.examined += 1
        if not holds:
            # A file's name may hold bytes that are no text, and no page could.
            self.findings.append(AuditFinding(*map(printable, (where, what, look))))
        return holds

    def compare(self, where: str, found: object, expected: object, source: str, look: str) -> None:
        """Expect two values to be equal; a finding shows where they differ."""
        what = "" if found == expected else f"{difference(found, expected)} ({source})"
        self.expect(not what, where, what, look)

    @contextmanager
    def reading(self, where: str, look: str) -> Iterator[None]:
        """A file of another shape than a stage writes is reported, and the audit continues."""
        try:
            yield
        except UserError as error:
            self.expect(False, where, str(error), look)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            self.expect(False, where, f"is not what a stage writes ({error!r})", look)


def made(examine: Callable[..., None], project: Any) -> AuditCheck:
    """A check by the function that makes it; the first line of its docstring is the claim."""
    function = examine.func if isinstance(examine, partial) else examine
    claim = (function.__doc__ or "").partition("\n")[0]
    check = AuditCheck(function.__name__.replace("_", " "), claim)
    with check.reading("the project", "`git status` and `git log` show what changed"):
        examine(project, check)
    return check


def difference(found: Any, expected: Any) -> str:
    """The first place where two values differ, with what is there: `at budget.0: 3, not 4`."""
    if isinstance(found, list | tuple) and isinstance(expected, list | tuple):
        found, expected = dict(enumerate(found)), dict(enumerate(expected))
    if isinstance(found, dict) and isinstance(expected, dict):
        keys = {**expected, **found}
        pairs = {key: (found.get(key, ABSENT), expected.get(key, ABSENT)) for key in keys}
        key = next(key for key, (one, other) in pairs.items() if one != other)
        deeper = difference(*pairs[key])
        return f"at {key}.{deeper[3:]}" if deeper.startswith("at ") else f"at {key}: {deeper}"
    one, other = repr(found), repr(expected)
    if max(len(one), len(other)) <= SHOWN:
        return f"{one}, not {other}"
    same = next(n for n, (a, b) in enumerate(zip_longest(one, other)) if a != b)
    return f"from character {same} on {one[same:][:SHOWN]!r}, not {other[same:][:SHOWN]!r}"


@dataclass(frozen=True)
class Audit:
    checks: tuple[AuditCheck, ...]
    stale: Mapping[str, str]
    """The stages that other code made, each with the reason."""
    stale_allowed: bool

    @property
    def found(self) -> int:
        return sum(len(check.findings) for check in self.checks)

    @property
    def passed(self) -> bool:
        return not self.found and (self.stale_allowed or not self.stale)

    @property
    def staleness(self) -> str:
        """One sentence about the stages that `dvc repro` would run again; empty without any."""
        if not self.stale:
            return ""
        stages = plural(len(self.stale), "stage was", "stages were")
        return f"STALE: {stages} made by other code; `dvc repro` runs them again."

    def summary(self) -> str:
        examined = sum(check.examined for check in self.checks)
        verdict = plural(self.found, "finding") if self.found else "nothing found"
        ran = sum(check.examined > 0 for check in self.checks)
        return f"{ran} checks, {examined} places: {verdict}. {self.staleness}".strip()

    def as_json(self) -> dict[str, Any]:
        return {
            "passed": self.passed,
            "summary": self.summary(),
            "stale": dict(self.stale),
            "checks": [{"verdict": check.verdict, **asdict(check)} for check in self.checks],
        }
