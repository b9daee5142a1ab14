"""DVC's own commands in a clone, with wrong values and without data."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator

from benchmarks.attempts.harness import Attempt, Ending, Scratch

DATASETS = ("frequency", "height")
"""One that is generated and one that is downloaded."""
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
        yield Attempt(
            f"dvc exp run --allow-missing -S {value}",
            _dvc("exp", "run", "--allow-missing", "-S", value),
            "dvc refuses",
            says,
        )
    for words, says in WORKING:
        yield Attempt(f"dvc {' '.join(words)}", _dvc(*words), "works", says)
    for words, says in REFUSED:
        yield Attempt(f"dvc {' '.join(words)}", _dvc(*words), "dvc refuses", says)
    yield Attempt(
        "dvc repro with a key twice",
        _dvc("repro", "validate"),
        "dvc refuses",
        "params.yaml",
        lambda s: s.replace("params.yaml", "leak_share: 0.5", "leak_share: 0.5\nleak_share: 0.6"),
    )
    yield Attempt(
        "dvc repro without params.yaml",
        _dvc("repro", "validate"),
        "dvc refuses",
        "params|datasets",
        lambda s: s.path("params.yaml").unlink(),
    )
    yield Attempt("the way back after an experiment", _there_and_back, "works", "as it was")
    yield Attempt("push here and pull in another clone", _push_and_pull, "works", "the same")
    yield Attempt(
        "run with a wrong value",
        lambda s: s.verb("run", "--jobs", "1"),
        "refused",
        "leak_share: 7 is not valid",
        lambda s: s.replace("params.yaml", "leak_share: 0.5", "leak_share: 7"),
    )
    yield Attempt(
        "run of one stage", lambda s: s.verb("run", "validate"), "works", "validate|up to"
    )
    yield Attempt(
        "run of a stage whose source cannot be reached",
        lambda s: s.verb("run", "download@height", variables={"https_proxy": "http://127.0.0.1:9"}),
        "dvc refuses",
        "Failed: download@height.*get it by hand from",
    )


def _dvc(*words: str) -> Callable[[Scratch], Ending]:
    return lambda scratch: scratch.run("dvc", *words)


def _there_and_back(scratch: Scratch) -> Ending:
    """README: run an experiment, then `git checkout . && dvc checkout --allow-missing`."""
    before = scratch.state()
    words = ("exp", "run", "-S", "dataset.frequency.tasks=5", "prepare@frequency")
    ran = scratch.run("dvc", *words)
    if ran.code:
        return ran
    back = scratch.run("sh", "-c", "git checkout . && dvc checkout --allow-missing")
    if back.code or scratch.state() != before:
        return Ending(back.code or -1, err=f"{back.text}{scratch.state()}")
    return Ending(0, "as it was")


def _push_and_pull(scratch: Scratch) -> Ending:
    """docs/experiments.md: a remote, push, and pull in another clone."""
    other, store = scratch.root.parent / "other", scratch.root.parent / "store"
    table = "data/frequency/table.parquet"
    remote = ("dvc", "remote", "add", "--local", "--default", "store", str(store))
    try:
        for command in (("dvc", "repro", "prepare@frequency"), remote, ("dvc", "push")):
            if (ending := scratch.run(*command)).code:
                return ending
        subprocess.run(["git", "clone", "--quiet", str(scratch.root), str(other)], check=True)
        shutil.copy(scratch.path("dvc.lock"), other / "dvc.lock")
        for command in (remote, ("dvc", "pull", "--allow-missing")):
            if (ending := scratch.run(*command, folder=other)).code:
                return ending
        same = (other / table).read_bytes() == scratch.path(table).read_bytes()
        return Ending(0, "the same" if same else "another table")
    finally:
        scratch.path(".dvc/config.local").unlink(missing_ok=True)
        shutil.rmtree(other, ignore_errors=True)
        shutil.rmtree(store, ignore_errors=True)
