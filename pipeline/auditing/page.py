"""The audit as a page that a reviewer can read."""

from __future__ import annotations

from importlib.resources import files as package_files

from pipeline.auditing.findings import Audit
from pipeline.reporting.blocks import ENVIRONMENT

SHOWN = 200
"""Findings of one check on the page; the JSON has them all."""


def page(audit: Audit) -> str:
    template = package_files("pipeline.auditing").joinpath("page.html").read_text("utf-8")
    return ENVIRONMENT.from_string(template).render(audit=audit, shown=SHOWN)


def text(audit: Audit) -> str:
    """The same for a terminal."""
    lines = []
    for check in audit.checks:
        lines.append(
            f"{check.verdict:>10}  {check.name}: {check.question} ({check.examined} asked)"
        )
        lines += [f"{'':12}{note}" for note in check.notes]
        for finding in check.findings[:10]:
            lines.append(f"{'':12}{finding.where}: {finding.what}")
            lines.append(f"{'':14}{finding.look}")
        if len(check.findings) > 10:
            lines.append(f"{'':12}and {len(check.findings) - 10} more")
    return "\n".join([*lines, audit.summary()])
