"""The architectures by name. Depends on nothing: settings, reports and the audit read it too.

A new architecture is one file beside this one and one entry here.
"""

from __future__ import annotations

from dataclasses import dataclass

Kind = str
"""The name of an architecture."""


@dataclass(frozen=True)
class Architecture:
    name: str
    title: str
    module: str
    """Where its `ENTRY` is: how the task enters the trunk."""
    knows_task: bool
    has_task_parameters: bool
    """Whether every task has a vector beta of parameters, which a new task can be given."""
    has_context: bool
    """Whether these parameters pass nonlinear units; a last layer's do not."""

    @property
    def hyperparameters(self) -> tuple[str, ...]:
        """The hyperparameters of Table 6 that it has."""
        shared = ("peak_rate", "width", "lambda_shared")
        return (*shared, "lambda_task", "task_dim") if self.has_task_parameters else shared


_HERE = "learned_context.networks"
ARCHITECTURES: dict[str, Architecture] = {
    entry.name: entry
    for entry in (
        Architecture("lc", "learned context", f"{_HERE}.learned_context", True, True, True),
        Architecture("cs", "context sensitive", f"{_HERE}.context_sensitive", True, False, False),
        Architecture("ll", "last layer", f"{_HERE}.last_layer", True, True, False),
        Architecture("fs", "fully shared", f"{_HERE}.fully_shared", False, False, False),
        Architecture("film", "feature-wise linear modulation", f"{_HERE}.film", True, True, True),
    )
}


def architecture(kind: Kind) -> Architecture:
    if kind not in ARCHITECTURES:
        raise ValueError(f"kind must be one of {', '.join(ARCHITECTURES)}, not {kind!r}")
    return ARCHITECTURES[kind]
