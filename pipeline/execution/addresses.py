"""The names of stages: `results/dvc.yaml:repeats@schools-lc`, and what one may type for them."""

from __future__ import annotations

import difflib
import fnmatch
import re
from collections.abc import Sequence

from learned_context.errors import UserError

PIPELINE_FILE = "dvc.yaml"


def short_name(stage_address: str) -> str:
    """`results/dvc.yaml:repeats@schools` -> `repeats@schools`."""
    return stage_address.rsplit(":", 1)[-1]


def kind(stage_address: str) -> str:
    """What the stages of one matrix have in common: `repeats@schools` -> `repeats`."""
    return short_name(stage_address).split("@", 1)[0]


def file_name(stage_address: str) -> str:
    """A readable file name for a stage's log."""
    return re.sub(r"[^\w@.+-]", "_", stage_address.replace(f"/{PIPELINE_FILE}:", "."))


def resolve_targets(addresses: Sequence[str], targets: Sequence[str]) -> list[str]:
    """Turn addresses, short names, kinds and globs into addresses."""
    found: dict[str, None] = {}
    for target in targets:
        matches = [
            one
            for one in addresses
            if fnmatch.fnmatchcase(one, target)
            or fnmatch.fnmatchcase(short_name(one), target)
            or kind(one) == target
        ]
        if not matches:
            names = sorted({*addresses, *map(short_name, addresses), *map(kind, addresses)})
            near = difflib.get_close_matches(target, names, n=5, cutoff=0.5)
            hint = f"did you mean {', '.join(near)}?" if near else "`dvc stage list --all` has all"
            raise UserError(f"{target}: no such stage; {hint}")
        found.update(dict.fromkeys(matches))
    return list(found)
