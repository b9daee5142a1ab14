"""validate: params.yaml, its profile and raw/sources.yaml are valid; changes nothing else.

The first stage: DVC would otherwise look for missing data before a wrong value is named.
"""

from __future__ import annotations

import argparse

from pipeline import settings
from pipeline.datasets import registry, sources
from pipeline.datasets.sources import Sources
from pipeline.files import Files, write_json
from pipeline.settings import Settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--write", action="store_true", help="write the stage's output as well")


def run(arguments: argparse.Namespace) -> None:
    files = Files()
    loaded, _ = load_valid(files)
    names = [str(path) for path in (files.params, files.profile(loaded.params.profile))]
    print(f"{', '.join([*names, str(files.sources)])}: valid")
    if arguments.write:
        # The same for all valid settings: what is below this stage does not run again.
        write_json(files.validated, {"valid": True})


def load_valid(files: Files) -> tuple[Settings, Sources]:
    """The settings and sources, if they are valid and agree with each other."""
    loaded, known = settings.load(files), sources.load(files.sources)
    for name in loaded.params.datasets:
        keys = loaded.dataset(name)
        known.edition(name, keys.edition)
        if not keys.is_own:
            registry.split_rule(name, keys.split)
    return loaded, known
