"""What every stage of a plan is expected to cost, from the studies' declarations."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pipeline import settings
from pipeline.commands.validate import load_valid
from pipeline.datasets import sources
from pipeline.execution.addresses import kind, short_name
from pipeline.execution.estimates import ProfileCosts
from pipeline.files import Files
from pipeline.settings import Settings
from pipeline.studies import STUDIES
from pipeline.studies.plumbing.costs import GPU, START, THREAD, Speed, Work
from pipeline.studies.plumbing.study import BASE_ONLY


def profile_costs(root: Path) -> ProfileCosts:
    files = Files(root)
    if not files.profile("").parent.exists():
        return ProfileCosts()
    chosen, known = load_valid(files)  # a mistake stops a run before its first stage
    work = {name: _work(chosen, known, name) for name in chosen.params.datasets}

    def seconds(address: str) -> float:
        study = STUDIES.get(kind(address).removesuffix(BASE_ONLY))
        dataset, _, model = short_name(address).partition("@")[2].partition("-")
        if study is None or dataset not in work or study.reason_against(model):
            return START
        return START + study.cost(work[dataset])

    return ProfileCosts(chosen.params.profile, chosen.profile.train.device, seconds)


@dataclass(frozen=True)
class StudyHours:
    stages: int
    hours: float


def gpu_hours(root: Path, profile: str, speed: Speed | None = None) -> dict[str, StudyHours]:
    """The hours of every study's stages on one GPU, one after the other, with this profile."""
    files = Files(root)
    chosen, known = settings.load(files, profile), sources.load(files.sources)
    speed = speed or GPU[chosen.profile.train.precision]
    found = {}
    for study in STUDIES.values():
        if study.name == "linear":  # has no use for a GPU
            continue
        seconds = [
            START + study.cost(_work(chosen, known, dataset, speed))
            for dataset in chosen.params.datasets
            for model in study.models(chosen.params)
            if not study.reason_against(model)
        ]
        found[study.name] = StudyHours(len(seconds), sum(seconds) / 3600)
    return found


def _work(chosen: Settings, known: sources.Sources, dataset: str, speed: Speed = THREAD) -> Work:
    keys = chosen.dataset(dataset)
    if keys.tasks and keys.train_rows:
        return Work(chosen, keys.tasks * keys.train_rows, keys.tasks, speed)
    edition = known.edition(dataset, keys.edition)
    share = keys.train_share or 0.8
    return Work(chosen, share * (edition.rows or 10_000), edition.tasks or 100, speed)
