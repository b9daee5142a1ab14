"""What each page shows: functions from results to blocks. The notebooks call them in order."""

from pipeline.reporting.pages import (
    base,
    check,
    data,
    death_rate,
    diagrams,
    dimension,
    explore,
    holdout,
    index,
    methods,
    repeats,
    reproduce,
    search,
    sizes,
    task_parameters,
    theory,
)

__all__ = [
    "base",
    "check",
    "data",
    "death_rate",
    "diagrams",
    "dimension",
    "explore",
    "holdout",
    "index",
    "methods",
    "repeats",
    "reproduce",
    "search",
    "sizes",
    "task_parameters",
    "theory",
]
