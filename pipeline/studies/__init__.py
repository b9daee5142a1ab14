"""The paper's studies, one module each: declaration, computation and typed result.

A module of this folder with a `STUDY` is a study; nothing else lists them.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import Any

from pipeline.studies.plumbing.study import Study


def _declared() -> dict[str, Study[Any]]:
    """By name, in the order of the flow: the base study first, and each after its inputs."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.ispkg)
    waiting = [import_module(f"{__name__}.{name}").STUDY for name in names]
    waiting.sort(key=lambda study: not study.base)
    found: dict[str, Study[Any]] = {}
    while waiting:
        study = next(one for one in waiting if all(up.study in found for up in one.inputs.values()))
        waiting.remove(study)
        found[study.name] = study
    return found


STUDIES = _declared()
