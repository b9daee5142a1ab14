"""The audit as a page that a reviewer can read, and for a terminal."""

from __future__ import annotations

from collections import Counter
from importlib.resources import files as package_files

from pipeline.auditing.checks import Audit
from pipeline.execution.addresses import kind
from pipeline.reporting.blocks import ENVIRONMENT

SHOWN = 10
"""Findings of one check on a terminal; the page has more of them, the JSON all."""


def page(audit: Audit) -> str:
    template = package_files("pipeline.auditing").joinpath("page.html").read_text("utf-8")
    return ENVIRONMENT.from_string(template).render(audit=audit, stale=kinds(audit))


def text(audit: Audit) -> str:
    lines = []
    for check in audit.checks:
        lines.append(f"{check.verdict:>11}  {check.name}: {check.claim} ({check.examined})")
        lines += [f"{'':13}{note}" for note in check.notes]
        lines += _first([f"{one.where}: {one.what}\n{'':15}{one.look}" for one in check.findings])
    if audit.stale:
        lines += ["", audit.staleness, *_first([f"{what}: {why}" for what, why in kinds(audit)])]
    return "\n".join([*lines, audit.summary()])


def kinds(audit: Audit) -> list[tuple[str, str]]:
    """The stale stages, those of one kind and with one reason together."""
    found = Counter((kind(place), reason) for place, reason in audit.stale.items())
    return [(f"{what} ({count})", why) for (what, why), count in found.items()]


def _first(lines: list[str]) -> list[str]:
    more = [f"and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
    return [f"{'':13}{line}" for line in [*lines[:SHOWN], *more]]
