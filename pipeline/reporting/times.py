"""What the study took, and on what: measured once, by `report --readme`, and then a record.

A stage's time differs from run to run. Pages are a function of results that do not, so they read
the record and not the stages' own `.run.json` files.
"""

from __future__ import annotations

import psutil

from pipeline import checked
from pipeline.checked import Checked, Count
from pipeline.reporting.formatting import listed, plural
from pipeline.reporting.results import Results
from pipeline.reporting.site import restore
from pipeline.studies.plumbing.run_info import RunInfo

Seconds = dict[str, dict[str, float]]


class StudyTimes(Checked):
    profile: str
    datasets: list[str]
    stages: Count
    machines: list[str]
    cores: Count
    memory_gib: Count
    """Of the machine that wrote the record, which is the one that ran the stages."""
    clock_seconds: float
    """Of all stages, one after the other, with whatever else the machine did."""
    cpu_seconds: Seconds
    """By study and dataset: processor time."""

    @property
    def machine(self) -> str:
        return (
            f"{listed(self.machines)}, {plural(self.cores, 'core')} and {self.memory_gib} GB of "
            "memory"
        )

    @property
    def total(self) -> float:
        return sum(sum(by_dataset.values()) for by_dataset in self.cpu_seconds.values())


def load(results: Results) -> StudyTimes | None:
    """The record; None if there is none, or one of another profile or other datasets."""
    remedy = "write it with `python -m pipeline report --readme`"
    found = results.benchmark("times", StudyTimes, remedy)
    params = results.settings.params
    if found and (found.profile, tuple(found.datasets)) == (params.profile, params.datasets):
        return found
    return None


def measure(results: Results) -> StudyTimes | None:
    """From what the stages left beside their results; None if none has run."""
    params = results.settings.params
    seconds: Seconds = {}
    machines: set[str] = set()
    stages, clock = 0, 0.0
    for dataset in results.datasets:
        for file in sorted((results.files.root / "results").glob(f"*/{dataset}/*.run.json")):
            run = checked.read(file, RunInfo, restore(file))
            by_dataset = seconds.setdefault(file.parts[-3], {})
            by_dataset[dataset] = round(by_dataset.get(dataset, 0.0) + run.cpu_seconds, 1)
            if run.cpu != "none":  # a model that cannot take part
                machines.add(f"{run.system} with {run.cpu}")
            stages += 1
            clock += run.seconds
    if not stages:
        return None
    return StudyTimes(
        profile=params.profile,
        datasets=list(params.datasets),
        stages=stages,
        machines=sorted(machines),
        cores=psutil.cpu_count() or 1,
        memory_gib=round(psutil.virtual_memory().total / 2**30),
        clock_seconds=round(clock, 1),
        cpu_seconds=seconds,
    )
