"""DVC's own commands in a clone, with wrong values and without data."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator

from benchmarks.attempts.harness import (
    Attempt,
    Ending,
    Scratch,
    dvc_refuses,
    refused,
    removed,
    replaced,
    verb,
    works,
)

DATASETS = ("frequency", "height")
"""One that is generated and one that is downloaded."""
SHARE = "leak_share: 0.5"
VALUES: list[tuple[str, str]] = [
    ("leak_share=7", "params.yaml: leak_share: 7 is not valid"),
    ("datasets=[]", r"params.yaml: datasets: \[\] is not valid"),
    ("datasets=[iris]", "'iris'"),
    ("profile=huge", "profiles/huge.yaml|profile: no"),
    ("models=[mlp]", "models: no network 'mlp'"),
    ("seeds.split=two", "seeds.split: 'two' is not valid"),
    ("dataset.frequency.noise=1e300", r"dataset.frequency.noise: 1e\+300 is not valid"),
    ("sedes.split=3", "sedes.split|sedes"),
]
WORKING: list[tuple[tuple[str, ...], str]] = [
    (("status",), "."),
    (("stage", "list", "--all"), "validate"),
    (("dag",), "validate"),
    (("metrics", "show"), "rmse"),
    (("metrics", "diff"), ""),
    (("params", "diff"), ""),
    (("exp", "show", "--only-changed", "--no-pager"), ""),
    (("exp", "list"), ""),
    (("checkout", "--allow-missing"), ""),
    (("repro", "--dry", "--allow-missing", "validate"), ""),
    (("repro", "validate"), ""),
    (("exp", "run", "-S", "leak_share=0.6", "validate"), "valid"),
    (("gc", "--workspace", "--force"), ""),
    (("data", "status"), ""),
]
REFUSED: list[tuple[tuple[str, ...], str]] = [
    (("repro", "paint"), "paint"),
    (("repro", "train@frequency-mlp"), "train@frequency-mlp"),
    (("checkout",), "missing-files|Checkout failed"),
    (("pull",), "missing-files|no remote|failed to pull"),
    (("push", "--remote", "nowhere"), "nowhere"),
    (("exp", "apply", "nothing"), "nothing"),
    (("exp", "run", "-S", "nonsense"), "nonsense|override|Must be|must"),
]


def attempts() -> Iterator[Attempt]:
    for value, says in VALUES:
        words = ("exp", "run", "--allow-missing", "-S", value)
        yield dvc_refuses(f"dvc {' '.join(words)}", _dvc(*words), says)
    for words, says in WORKING:
        yield works(f"dvc {' '.join(words)}", _dvc(*words), says)
    for words, says in REFUSED:
        yield dvc_refuses(f"dvc {' '.join(words)}", _dvc(*words), says)
    yield dvc_refuses(
        "dvc repro with a key twice",
        _dvc("repro", "validate"),
        "params.yaml",
        replaced("params.yaml", SHARE, f"{SHARE}\nleak_share: 0.6"),
    )
    yield dvc_refuses(
        "dvc repro without params.yaml",
        _dvc("repro", "validate"),
        "params|datasets",
        removed("params.yaml"),
    )
    yield works("the way back after an experiment", _there_and_back, "as it was")
    yield works("push here and pull in another clone", _push_and_pull, "the same")
    yield refused(
        "run with a wrong value",
        verb("run", "--jobs", "1"),
        "leak_share: 7 is not valid",
        replaced("params.yaml", SHARE, "leak_share: 7"),
    )
    yield works("run of one stage", verb("run", "validate"), "validate|up to")
    yield dvc_refuses(
        "run of a stage whose source cannot be reached",
        verb("run", "download@height", variables={"https_proxy": "http://127.0.0.1:9"}),
        "Failed: download@height.*get it by hand from",
    )


def _dvc(*words: str) -> Callable[[Scratch], Ending]:
    return lambda scratch: scratch.run("dvc", *words)


def _there_and_back(scratch: Scratch) -> Ending:
    """README: run an experiment, then `git checkout . && dvc checkout --allow-missing`."""
    before = scratch.state()
    words = ("exp", "run", "-S", "dataset.frequency.tasks=5", "prepare@frequency")
    if (ran := scratch.run("dvc", *words)).code:
        return ran
    back = scratch.run("sh", "-c", "git checkout . && dvc checkout --allow-missing")
    if back.code or scratch.state() != before:
        return Ending(back.code or -1, err=f"{back.text}{scratch.state()}")
    return Ending(0, "as it was")


def _push_and_pull(scratch: Scratch) -> Ending:
    """docs/experiments.md: a remote, push, and pull in another clone."""
    other, store = (scratch.root.parent / name for name in ("other", "store"))
    table = "data/frequency/table.parquet"
    remote = f"dvc remote add --local --default store '{store}'"
    here = f"dvc repro prepare@frequency && {remote} && dvc push"
    there = f"git clone --quiet . '{other}' && cp dvc.lock '{other}' && cd '{other}'"
    there += f" && {remote} && dvc pull --allow-missing"
    try:
        ending = scratch.run("sh", "-c", f"{here} && {there}")
        if ending.code:
            return ending
        same = (other / table).read_bytes() == scratch.path(table).read_bytes()
        return Ending(0, "the same" if same else "another table")
    finally:
        scratch.path(".dvc/config.local").unlink(missing_ok=True)
        shutil.rmtree(other, ignore_errors=True)
        shutil.rmtree(store, ignore_errors=True)
