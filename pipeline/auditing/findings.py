"""What an audit says: checks, and the findings of each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

from pipeline.errors import UserError


@dataclass(frozen=True)
class Finding:
    """Something that is not as it should be."""

    where: str
    what: str
    look: str
    """How to look closer, or the remedy."""


@dataclass
class Check:
    """One question, how often it was asked, and where the answer was no."""

    name: str
    question: str
    examined: int = 0
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What a reader should know and is no fault; why a check was not made, for one."""

    @property
    def passed(self) -> bool:
        return not self.findings

    @property
    def verdict(self) -> str:
        if self.findings:
            return f"{len(self.findings)} found"
        return "ok" if self.examined else "not asked"

    def ask(self, holds: bool, where: str, what: str, look: str) -> bool:
        """Count one question; without `holds` it is a finding."""
        self.examined += 1
        if not holds:
            self.findings.append(Finding(_writable(where), _writable(what), _writable(look)))
        return holds

    @contextmanager
    def reading(self, where: str, look: str) -> Iterator[None]:
        """A file that is not of the shape that a stage writes is a finding, and no end."""
        try:
            yield
        except UserError as error:
            self.ask(False, where, str(error), look)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            self.ask(False, where, f"is not what a stage writes ({error!r})", look)


def _writable(text: str) -> str:
    """A file's name may hold bytes that are no text, and no page could."""
    return text.encode(errors="backslashreplace").decode()


@dataclass(frozen=True)
class Audit:
    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        return all(check.passed for check in self.checks)

    def summary(self) -> str:
        asked = sum(check.examined for check in self.checks)
        found = sum(len(check.findings) for check in self.checks)
        verdict = "nothing found" if self.passed else f"{found} finding{'s' if found > 1 else ''}"
        made = sum(check.examined > 0 for check in self.checks)
        return f"{made} checks, {asked} questions: {verdict}."

    def as_json(self) -> dict[str, Any]:
        return {
            "passed": self.passed,
            "summary": self.summary(),
            "checks": [{"verdict": check.verdict, **asdict(check)} for check in self.checks],
        }
