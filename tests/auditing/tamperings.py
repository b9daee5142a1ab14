"""Forgeries of the versioned results, one at a time, and what the audit says of each."""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from learned_context.errors import UserError
from pipeline.auditing.project import Project
from pipeline.auditing.tracked import seal
from pipeline.commands import audit
from pipeline.execution.dvc_adapter.recorded import Records
from pipeline.files import write_json
from tests.small_study import git

Tampering = Callable[["Clone"], None]
REVIEWED = ("results", "reports", "dvc.lock", "raw/sources.yaml")
"""Where no digit may change unnoticed. Comments of params.yaml and the README's prose may."""


class Clone:
    """What a forger works on."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.dataset = Project(root).settings.params.datasets[0]

    def result(self, study: str, name: str = "lc") -> Path:
        return self.root / "results" / study / self.dataset / f"{name}.json"

    def change(self, path: Path | str, old: str, new: str) -> None:
        """Replace the first place where the pattern `old` stands; it must be there."""
        file = self.root / path
        before = file.read_text(encoding="utf-8")
        after = re.sub(old, new, before, count=1, flags=re.DOTALL)
        assert after != before, f"{file}: nothing matches {old}"
        file.write_text(after, encoding="utf-8")

    def one_digit(self, path: Path | str, after: str) -> None:
        """Change the digit at the end of the first number behind `after`."""

        def other(match: re.Match[str]) -> str:
            return match[1] + str((int(match[2]) + 1) % 10)

        file = self.root / path
        before = file.read_text(encoding="utf-8")
        changed = re.sub(
            rf"({after}[^0-9]*?-?\d*\.?\d*)(\d)", other, before, count=1, flags=re.DOTALL
        )
        assert changed != before, f"{file}: no number behind {after}"
        file.write_text(changed, encoding="utf-8")

    def edit_json(self, path: Path, edit: Callable[[dict], None]) -> None:
        content = json.loads(path.read_text(encoding="utf-8"))
        edit(content)
        write_json(path, content)

    def report(self, pattern: str) -> Path:
        return sorted((self.root / "reports").glob(pattern))[0]

    def forge_hash(self, path: Path) -> None:
        """Write a file's new hash into the lock files and seal these, as a careful forger would."""
        name = path.relative_to(self.root).as_posix()
        new = Records(self.root).hash_of(path)
        for lock in ("dvc.lock", "results/dvc.lock"):
            file = self.root / lock
            entry = rf"(path: {re.escape(name)}\n\s+hash: md5\n\s+md5: )[\w.]+"
            text = re.sub(entry, rf"\g<1>{new}", file.read_text(encoding="utf-8"))
            file.write_text(text, encoding="utf-8")
        seal(Project(self.root))

    def any_digit(self, rng: random.Random) -> str:
        """Change a digit at random in a file that a reviewer reads; which, as `file:line`."""
        path = self.root / rng.choice(git(self.root, "ls-files", *REVIEWED).splitlines())
        content = bytearray(path.read_bytes())
        digits = [match.start() for match in re.finditer(rb"[0-9]", content)]
        if not digits:
            return self.any_digit(rng)
        place = rng.choice(digits)
        content[place] = ord(rng.choice(sorted({*"0123456789"} - {chr(content[place])})))
        path.write_bytes(content)
        return f"{path.relative_to(self.root)}:{content.count(10, 0, place) + 1}"


def lower_the_error_and_forge_the_hash(clone: Clone) -> None:
    path = clone.result("train")
    clone.edit_json(path, lambda content: content.update(rmse=content["rmse"] * 0.9))
    clone.forge_hash(path)


def choose_another_trial_and_forge_the_hash(clone: Clone) -> None:
    def edit(content: dict) -> None:
        worst = max(content["evaluations"], key=lambda one: one["score"])
        content["best"], content["score"] = worst["settings"], worst["score"]

    clone.edit_json(clone.result("tune"), edit)
    clone.forge_hash(clone.result("tune"))


def leave_out_the_worst_task_and_forge_the_hash(clone: Clone) -> None:
    """The error over the other tasks' rows: right, but for the tasks it is of."""

    def edit(content: dict) -> None:
        errors, former = content["task_rmse"], content["rmse"]
        del errors[max(errors, key=errors.__getitem__)]
        info = json.loads(clone.result("data", "table").read_text(encoding="utf-8"))
        rows = {name: info["tasks"][name]["test"] for name in errors}
        squared = sum(rows[name] * error**2 for name, error in errors.items())
        content["rmse"] = (squared / sum(rows.values())) ** 0.5
        content["normalised"] *= content["rmse"] / former

    clone.edit_json(clone.result("train", "fs"), edit)
    clone.forge_hash(clone.result("train", "fs"))


def swap_two_models_and_forge_the_hashes(clone: Clone) -> None:
    one, other = clone.result("sizes", "cs"), clone.result("sizes", "lc")
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)
    for path in (one, other):
        clone.forge_hash(path)


def lower_a_held_out_error_and_forge_the_hash(clone: Clone) -> None:
    def edit(content: dict) -> None:
        content["fits"][-1]["gauss_newton"]["rmse"] *= 0.9

    clone.edit_json(clone.result("adapt"), edit)
    clone.forge_hash(clone.result("adapt"))


def another_edition(clone: Clone) -> None:
    clone.change("params.yaml", r"(edition: )\w+", r"\g<1>other")


def another_edition_in_the_result(clone: Clone) -> None:
    clone.change(clone.result("train"), r'"edition": "\w+"', '"edition": "other"')


def drop_the_dataset(clone: Clone) -> None:
    clone.change("params.yaml", rf"(datasets:.*?)(- )?{clone.dataset}(, |\n)", r"\g<1>")


def drop_a_lock_entry(clone: Clone) -> None:
    clone.change("dvc.lock", r"\n  linear@.*?(?=\n  \w+@)", "")


def copy_a_result(clone: Clone) -> None:
    shutil.copy(clone.result("train"), clone.result("train", "lc-better"))


def replace_a_result_by_a_link(clone: Clone) -> None:
    elsewhere = clone.root.parent / "elsewhere.json"
    shutil.move(clone.result("train"), elsewhere)
    clone.result("train").symlink_to(elsewhere)


def another_number_and_a_forged_hash(study: str, key: str) -> Tampering:
    """Of the first place in a result where `key` stands: nothing but the hash would tell."""

    def tamper(clone: Clone) -> None:
        clone.one_digit(clone.result(study), f'"{key}"')
        clone.forge_hash(clone.result(study))

    return tamper


def other_versions_and_new_seals(clone: Clone) -> None:
    path = clone.result("train").with_suffix(".run.json")
    clone.change(path, r'("numpy": ")[^"]+', r"\g<1>1.0.0")
    seal(Project(clone.root))


def hide(name: str) -> Tampering:
    """A file where git ignores it, and so does who looks."""

    def tamper(clone: Clone) -> None:
        path = clone.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"{}")
        git(clone.root, "add", "--force", str(path))

    return tamper


TAMPERINGS: dict[str, Tampering] = {
    "a digit of a test error": lambda c: c.one_digit(c.result("train"), '"rmse"'),
    "a digit of one task's error": lambda c: c.one_digit(c.result("train"), '"task_rmse"'),
    "a digit of a trial's score": lambda c: c.one_digit(c.result("tune"), '"score"'),
    "a digit of a repeat": lambda c: c.one_digit(c.result("repeats"), '"max"'),
    "a digit on fewer rows": lambda c: c.one_digit(c.result("sizes"), '"rmse"'),
    "a digit of a dimension": lambda c: c.one_digit(c.result("dimension"), '"rmse"'),
    "a digit of a hold-out network": lambda c: c.one_digit(c.result("holdout"), '"rmse"'),
    "a digit of a held-out task": lambda c: c.one_digit(c.result("adapt"), '"objective"'),
    "a digit of linear regression": lambda c: c.one_digit(c.result("linear", "linear"), '"lr"'),
    "a digit of the target's deviation": lambda c: c.one_digit(c.result("data", "table"), '"std"'),
    "a digit of a figure's numbers": lambda c: c.one_digit(
        sorted((c.root / "results/illustrate").glob("*/*.json"))[0].relative_to(c.root), '"'
    ),
    "a seed in a result": lambda c: c.one_digit(c.result("train"), '"seed"'),
    "a seed with a forged hash": another_number_and_a_forged_hash("train", "seed"),
    "a seed of a repeat with a forged hash": another_number_and_a_forged_hash("repeats", "seed"),
    "a seed of a dimension with a forged hash": another_number_and_a_forged_hash(
        "dimension", "seed"
    ),
    "a seed of a hold-out network with a forged hash": another_number_and_a_forged_hash(
        "holdout", "seed"
    ),
    "another share of a held-out task's rows with a forged hash": another_number_and_a_forged_hash(
        "adapt", "share"
    ),
    "more epochs with a forged hash": another_number_and_a_forged_hash("sizes", "epochs"),
    "other test rows with a forged hash": another_number_and_a_forged_hash("train", "test"),
    "another momentum in a search with a forged hash": another_number_and_a_forged_hash(
        "tune", "momentum"
    ),
    "other versions beside a result, sealed again": other_versions_and_new_seals,
    "compiled code beside the source": hide("learned_context/training/__pycache__/trainer.pyc"),
    "a result in a folder that is ignored": hide("results/train/__pycache__/lc.json"),
    "a page among the notebooks": hide("reports/notebooks/base.html"),
    "a result that is a link": replace_a_result_by_a_link,
    "no versions": lambda c: (c.root / "requirements.lock").unlink(),
    "no README": lambda c: (c.root / "README.md").unlink(),
    "another command in the lock file": lambda c: c.change("dvc.lock", "cmd: .*?\n", "cmd: id\n"),
    "a lower error with a forged hash": lower_the_error_and_forge_the_hash,
    "the worst task left out with a forged hash": leave_out_the_worst_task_and_forge_the_hash,
    "two models swapped with forged hashes": swap_two_models_and_forge_the_hashes,
    "a lower held-out error with a forged hash": lower_a_held_out_error_and_forge_the_hash,
    "other restarts with a forged hash": another_number_and_a_forged_hash("train", "restarts"),
    "a worse trial with a forged hash": choose_another_trial_and_forge_the_hash,
    "another edition in params.yaml": another_edition,
    "another edition in a result": another_edition_in_the_result,
    "a dataset less": drop_the_dataset,
    "a result less": lambda c: c.result("train").unlink(),
    "a result more": copy_a_result,
    "a digit of a result's recorded hash": lambda c: c.one_digit(
        "dvc.lock", rf"path: results/train/{c.dataset}/lc.json\n\s+hash: md5\n\s+md5: [a-f]*"
    ),
    "a digit of an absent table's hash": lambda c: c.one_digit(
        "dvc.lock", rf"path: data/{c.dataset}/table.parquet\n\s+hash: md5\n\s+md5: [a-f]*"
    ),
    "a digit of a network's hash that nothing reads": lambda c: c.one_digit(
        "dvc.lock", rf"path: data/{c.dataset}/models/train-fs.safetensors\n.*?md5: [a-f]*"
    ),
    "a lock entry less": drop_a_lock_entry,
    "another seed in params.yaml": lambda c: c.one_digit("params.yaml", "\n  train:"),
    "other epochs in the profile": lambda c: c.one_digit(
        f"profiles/{Project(c.root).settings.params.profile}.yaml", "epochs:"
    ),
    "another limit of divergence in the code": lambda c: c.change(
        "learned_context/training/trainer.py", "DIVERGED_LOSS = 100.0", "DIVERGED_LOSS = 200.0"
    ),
    "another split in the code": lambda c: c.change("pipeline/datasets/splits.py", "1e-9", "1e-3"),
    "a digit of a raw file's hash": lambda c: c.one_digit("raw/sources.yaml", "sha256: [a-f]*"),
    "a digit of a dataset's rows": lambda c: c.one_digit("raw/sources.yaml", "rows:"),
    "a digit of a page": lambda c: c.one_digit(c.report("base.html"), '<td class="number[^>]*>'),
    "a digit of a table": lambda c: c.one_digit(c.report("base/*.csv"), ","),
    "a line of a figure": lambda c: c.one_digit(c.report("*/*.svg"), "<path d="),
    "a number of the paper": lambda c: c.one_digit("reports/paper.yaml", "base:.*?rows:.*?\\["),
    "a verdict": lambda c: c.change(
        "reports/paper_check.json", '"verdict": "\\w+', '"verdict": "x'
    ),
    "a metric": lambda c: c.one_digit("reports/metrics.json", ":"),
    "a cell of a notebook": lambda c: c.change("reports/notebooks/base.ipynb", "page", "pages"),
    "a digit of the README's table": lambda c: c.one_digit(
        "README.md", "begin: reproduction.*?\\|"
    ),
    "a benchmark": lambda c: c.one_digit(
        sorted((c.root / "results/benchmarks").glob("*.json"))[0].relative_to(c.root), ":"
    ),
    "a run's seconds": lambda c: c.one_digit(
        c.result("train").with_suffix(".run.json"), '"seconds"'
    ),
}


def arguments(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    audit.add_arguments(parser)
    return parser.parse_args(words)


def found_by(root: Path) -> Iterator[str]:
    """The names of the checks that find something; the report is not made again here."""
    try:
        project = Project(root)
        for check in audit.checks(project, arguments("--skip-reports")):
            if check.findings:
                yield check.name
        if project.stale:
            yield "stale"
    except UserError as error:
        yield f"refused: {str(error).splitlines()[0]}"


def undo(root: Path) -> None:
    git(root, "reset", "--quiet", "--hard", "HEAD~1")
