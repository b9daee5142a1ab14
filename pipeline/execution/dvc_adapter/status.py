"""Is a stage stale? As `dvc repro --dry --allow-missing` judges it, but with the reason.

A missing file counts as fresh while the hashes in dvc.lock agree, so that a clone without data
can be planned. Two gaps of DVC's own answer are closed: it takes a stage that never ran for
fresh when its inputs are missing, and it does not compare an output that is not in the cache.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pipeline.execution.dvc_adapter.repository import relative


def why_stale(stage: Any, upstream: Iterable[Any]) -> str | None:
    """The first reason why a stage must run, or None. Call under DVC's lock."""
    if stage.is_callback or stage.always_changed:
        return "always runs"
    if stage.cmd and stage.outs and not any(out.hash_info for out in stage.outs):
        return "never run"
    if stage.changed_stage():
        return "its command changed"
    reasons: list[str | None] = []
    if not stage.frozen:
        reasons += [_dependency_change(dep, upstream) for dep in stage.deps]
    reasons += [_output_change(out) for out in stage.outs]
    return next((reason for reason in reasons if reason), None)


def _dependency_change(dep: Any, upstream: Iterable[Any]) -> str | None:
    state = next(iter(dep.status().values()), None)
    if not state:
        return None
    if isinstance(state, dict):  # a parameter file: the state of every key
        keys = ", ".join(f"{key} {change}" for key, change in state.items())
        return f"{relative(dep)}: {keys}"
    if state != "deleted":
        return f"{relative(dep)} {'changed' if state == 'modified' else state}"
    if not dep.hash_info:
        return f"{relative(dep)} is a new dependency"
    for stage in upstream:
        for out in stage.outs:
            if out.fs_path == dep.fs_path and out.hash_info != dep.hash_info:
                return f"{relative(dep)} changed"
    return None


def _output_change(out: Any) -> str | None:
    if not out.hash_info:
        return f"{relative(out)} is a new output"
    if not out.use_cache and not out.exists:
        return f"its output {relative(out)}, which git keeps, is missing"
    if out.exists and out.changed_checksum():
        return f"its output {relative(out)} is not what it wrote"
    return None


def restorable(out: Any) -> bool:
    """Whether `dvc checkout` can bring a missing output back."""
    return bool(out.use_cache and out.hash_info and not out.changed_cache())


def missing_outputs(stage: Any) -> list[Any]:
    return [out for out in stage.outs if not out.exists]


def reads(stage: Any, out: Any) -> bool:
    """Whether a stage depends on this output, on a file in it or on a folder around it."""
    produced = Path(out.fs_path)
    for dep in stage.deps:
        wanted = Path(dep.fs_path)
        if wanted.is_relative_to(produced) or produced.is_relative_to(wanted):
            return True
    return False
