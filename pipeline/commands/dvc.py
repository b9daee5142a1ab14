"""dvc: dvc.yaml and results/dvc.yaml, from the studies' declarations and the modules' imports."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from io import StringIO
from textwrap import indent
from typing import Any

from ruamel.yaml import YAML

from learned_context.errors import UserError
from pipeline.files import Files, read_text, write_text
from pipeline.reporting import site
from pipeline.settings import Params, Profile
from pipeline.studies import STUDIES
from pipeline.studies.plumbing.code import code_below, code_of
from pipeline.studies.plumbing.study import BASE_ONLY, FURTHER, Study

COMMAND = "python -m pipeline dvc --write"
GENERATED = f"# Written by `{COMMAND}` from pipeline/studies and pipeline/commands/dvc.py."
BASE_FILE = f"""\
{GENERATED}
#
# validate -> download -> prepare -> linear, tune -> train -> check -> report. The studies between
# train and check are in {FURTHER}, because DVC writes a whole lock file again for every
# stage that it runs.
# What git keeps is `persist`: a stage that fails leaves the old file.
"""
FURTHER_FILE = f"""\
{GENERATED}
#
# The studies that build on the base study. Their paths are relative to the project's root.

vars:
  - ../params.yaml
"""
SHOWN = """
# What `dvc metrics` and `dvc plots` show, and compare with another commit or experiment.
metrics:
  - reports/metrics.json

plots:
  - reports/plots/dimension:
      x: task_parameters
      y: error
      title: test error by the number of task parameters, relative to LC's base error
  - reports/plots/training:
      x: epoch
      y: loss
      title: training loss
"""
MOST_LETTERS = 1000
"""Of a line: longer ones would be broken."""
IN_GIT = {"cache": False, "persist": True}
DATASET, MODEL, PAGE = "${item.dataset}", "${item.model}", "${item.page}"
PROFILE = "profiles/${profile}.yaml"
WRITTEN_BY_CHECK = ("inputs.json", "metrics.json", "paper_check.json", "plots")
RESULTS = "pipeline/studies"
"""For what reads results: it depends on their types, not on all that computes them."""


@dataclass(frozen=True)
class Stage:
    name: str
    command: str
    deps: Iterable[str]
    matrix: dict[str, str | list[str]] = field(default_factory=dict)
    params: Sequence[str] = ()
    profile: Sequence[str] = ()
    sources: Sequence[str] = ()
    """Keys of raw/sources.yaml."""
    cached: Sequence[str] = ()
    """Outputs that DVC keeps."""
    in_git: Sequence[str] = ()
    """Outputs that git keeps."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--write", action="store_true", help="write the files; otherwise compare")


def run(arguments: argparse.Namespace) -> None:
    files = Files()
    for name, text in pipeline_files().items():
        path = files.root / name
        if arguments.write:
            write_text(path, text)
            print(f"{path}: written")
        elif not path.exists() or read_text(path) != text:
            raise UserError(f"{path}: is not what the studies declare; run `{COMMAND}`")
        else:
            print(f"{path}: is what the studies declare")


def pipeline_files() -> dict[str, str]:
    """The texts of the pipeline files, by their paths."""
    base = [study for study in STUDIES.values() if study.base]
    further = [study for study in STUDIES.values() if not study.base]
    stages = _data_stages()
    for study in base:
        stages.append(_study_stage(study, "${models}"))
        if study.by_model:
            stages.append(_study_stage(study, "${base_only}", BASE_ONLY))
    stages += _report_stages()
    return {
        "dvc.yaml": BASE_FILE + _stages(stages, "") + SHOWN,
        FURTHER: FURTHER_FILE + _stages([_study_stage(one, "${models}") for one in further], ".."),
    }


def _data_stages() -> list[Stage]:
    matrix: dict[str, str | list[str]] = {"dataset": "${datasets}"}
    validated = _path(Files().validated)
    return [
        Stage(
            "validate",
            "validate --write",
            ["pipeline/commands/validate.py", "pipeline/settings.py"],
            params=list(Params.model_fields),
            profile=list(Profile.model_fields),
            in_git=[validated],
        ),
        Stage(
            "download",
            f"download {DATASET}",
            # Not on the modules of the datasets: a new one must not fetch every file again.
            [*code_below(["pipeline.commands.download"], by_name=False), validated],
            matrix,
            params=[f"dataset.{DATASET}.edition"],
            sources=[f"dataset.{DATASET}"],
            cached=[f"raw/{DATASET}"],
        ),
        Stage(
            "prepare",
            f"prepare {DATASET}",
            [*code_below(["pipeline.commands.prepare"]), f"raw/{DATASET}"],
            matrix,
            params=[f"dataset.{DATASET}", "seeds.data", "seeds.split"],
            cached=[f"data/{DATASET}/table.parquet"],
            in_git=[_path(Files().table_info(DATASET))],
        ),
    ]


def _study_stage(study: Study[Any], models: str, suffix: str = "") -> Stage:
    files, model = Files(), MODEL if study.by_model else ""
    deps = [*code_of(study), _path(files.table(DATASET)), _path(files.table_info(DATASET))]
    for upstream in study.inputs.values():
        source = STUDIES[upstream.study]
        result = source.path(files, DATASET, model)
        deps.append(_path(result.parent if upstream.every_model else result))
        if upstream.networks:
            deps.append(_path(source.networks_path(files, DATASET, model)))
    matrix: dict[str, str | list[str]] = {"dataset": "${datasets}"}
    if study.by_model:
        matrix["model"] = models
    every = any(upstream.every_model for upstream in study.inputs.values())
    networks = study.networks != "none"
    return Stage(
        f"{study.name}{suffix}",
        " ".join(filter(None, (study.name, DATASET, model))),
        deps,
        matrix,
        params=[*study.params, *(["models"] if every else [])],
        profile=study.profile,
        cached=[_path(study.networks_path(files, DATASET, model))] if networks else [],
        in_git=[_path(study.path(files, DATASET, model))],
    )


def _report_stages() -> list[Stage]:
    return [
        Stage(
            "check",
            "check --write",
            [
                *code_below(["pipeline.commands.check"], whole=[RESULTS], by_name=False),
                "reports/paper.yaml",
                *(f"results/{name}" for name in ("benchmarks", "data", *STUDIES)),
            ],
            params=("base_only", "datasets", "fractions", "models", "profile", "space"),
            profile=["search.width_max"],
            in_git=[f"reports/{name}" for name in WRITTEN_BY_CHECK],
        ),
        Stage(
            "report",
            f"report {PAGE}",
            [
                *code_below(
                    # What the notebooks import.
                    ["pipeline.commands.report", "pipeline.reporting.pages"],
                    whole=[RESULTS, "pipeline/reporting"],
                    by_name=False,
                ),
                "pipeline/datasets/sources.py",
                "pipeline/models/theory.py",
                "raw/sources.yaml",
                "reports/inputs.json",
                f"reports/notebooks/{PAGE}.ipynb",
                "reports/paper.yaml",
            ],
            {"page": list(site.pages(Files().root))},
            params=list(Params.model_fields),
            profile=list(Profile.model_fields),
            in_git=[f"reports/{PAGE}", f"reports/{PAGE}.html"],
        ),
    ]


def _stages(stages: Iterable[Stage], folder: str) -> str:
    layout = YAML()
    layout.indent(mapping=2, sequence=4, offset=2)
    layout.width = MOST_LETTERS
    texts = []
    for stage in stages:
        text = StringIO()
        layout.dump({stage.name: _entry(stage, folder)}, text)
        texts.append(indent(text.getvalue(), "  "))
    return "\nstages:\n" + "\n".join(texts)


def _entry(stage: Stage, folder: str) -> dict[str, Any]:
    keys = {"params.yaml": stage.params, "raw/sources.yaml": stage.sources, PROFILE: stage.profile}
    entry = {
        "wdir": folder,
        "matrix": stage.matrix,
        "cmd": f"python -m pipeline {stage.command}",
        "deps": sorted(set(stage.deps)),
        "params": [{file: sorted(own)} for file, own in keys.items() if own],
        "outs": [*stage.cached, *({path: dict(IN_GIT)} for path in stage.in_git)],
    }
    return {key: value for key, value in entry.items() if value}


def _path(path: Any) -> str:
    return str(path.as_posix())
