"""What the scripts in benchmarks/ have measured, as tables for docs/.

They run by hand and not as stages: their times belong to one machine. `results/SHA256SUMS` seals
what they wrote.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from learned_context.errors import UserError
from pipeline.files import Files, read_json
from pipeline.reporting.blocks import Cell, Table
from pipeline.reporting.cells import number

Key = str | int  # of a field


def tables(files: Files, *names: str) -> str:
    """The tables of these benchmarks as Markdown; one that has not run says so."""
    return "\n".join(_markdown(files, name) for name in names)


def _markdown(files: Files, name: str) -> str:
    path = files.root / "results" / "benchmarks" / f"{name}.json"
    command = f"python benchmarks/{name}.py"
    if not path.exists():
        return f"`{command}` has not run yet.\n"
    try:
        table = TABLES[name](read_json(path))
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise UserError(
            f"{path}: not what benchmarks/{name}.py writes ({error!r}); `git checkout` restores it"
        ) from error
    return f"{table.markdown()}\nMade by `{command}`.\n"


def _training(found: Any) -> Table:
    return Table.of(
        "training",
        f"Training on one thread, epochs a second; two processes are "
        f"{found['two_processes']:.2f} times as fast as one, "
        f"and the largest needs {found['peak_megabytes']:.0f} MB",
        found["sizes"],
        {
            "Rows x features, tasks, width": _text("name"),
            "Times skorch": _number("times_skorch", 2),
            "Times a plain loop": _number("times_plain", 2),
            "Of the matrix product's speed": _share("share_of_matrix_product"),
            "Products alone, of our time": _share("products_share"),
        },
    )


def _quality(found: Any) -> Table:
    return Table.of(
        "quality",
        "Test error at a small fixed budget, without a search, on one thread",
        found,
        {
            "Dataset": _text("dataset"),
            "Error": _number("rmse", 3),
            "At most": _number("target", 3),
            "Epochs": _number("epochs"),
            "Processor seconds": _number("cpu_seconds", 1),
        },
    )


def _members(found: Any) -> Table:
    return Table.of(
        "members",
        f"{found['members']} networks trained side by side, in batched products",
        found["sizes"],
        {
            "Rows x features, tasks, width, batch": _text("name"),
            "Optimiser": _text("optimizer"),
            "Times as fast as one by one": _number("times_one_by_one", 2),
        },
    )


def _defaults(found: Any) -> Table:
    return Table.of(
        "defaults",
        f"Ways to combine the estimator's settings, on validation rows of "
        f"{len(found['datasets'])} datasets: mean error relative to each dataset's best",
        found["summary"].items(),
        {"Combination, or one setting alone": _text(0), "Relative error": _number(1, 4)},
    )


def _holdout(found: Any) -> Table:
    return Table.of(
        "holdout",
        "Fits of held-out tasks on frequency: Gauss-Newton beside LIPO",
        [*found["task_dims"], {"task_dim": "all", **found["all"]}],
        {
            "Task parameters": _text("task_dim"),
            "Fits": _number("fits"),
            "Times as fast": _number("times_as_fast", 1),
            "No worse": _share("share_no_worse", 1),
            "Error": _number("gauss_newton_rmse", 3),
            "LIPO's error": _number("lipo_rmse", 3),
        },
    )


def _estimator(found: Any) -> Table:
    measured = {
        f"error on a task added with {one['rows']} rows": f"{one['ratio']:.3f} of full training's; "
        f"95% intervals cover {one['coverage_of_95']:.1%}"
        for one in found["new_tasks"]
    }
    for name, value in found["seconds"].items():
        measured[name.replace("_", " ")] = f"{value:.3g} s"
    large = found["large_fit"]
    measured["fit 1000000 rows of 10000 tasks"] = (
        f"{large['seconds']:.0f} s, {large['rows_a_second']:.0f} rows a second, "
        f"{large['peak_memory_gb']:.2f} GB"
    )
    return _measured(
        "estimator", "The estimator on frequency, processor time of one thread", measured
    )


def _lipo_samples(found: Any) -> Table:
    many, few = found["samples"]
    return Table.of(
        "lipo_samples",
        f"LIPO on {found['tasks']} held-out tasks of frequency: {few} samples a point beside "
        f"dlib's own {many}",
        found["cells"],
        {
            "Task parameters": _number("task_dim"),
            "Rows": _share("share"),
            "Times as fast": _number("times_as_fast", 2),
            "Median difference": _number("median_difference", 2),
            "Of an objective of": _number("median_objective", 1),
        },
    )


def _runner(found: Any) -> Table:
    measured = {
        "two workers beside one": f"{found['gain']:.2f} times as fast",
        f"{found['stages']} empty stages": f"{found['run_of_empty_stages']:.0f} s",
        "dvc repro with nothing to do": f"{found['repro_of_nothing']:.1f} s",
    }
    return _measured("runner", "The runner", measured)


def _measured(name: str, caption: str, measured: dict[str, str]) -> Table:
    return Table.of(name, caption, measured.items(), {"What": _text(0), "Measured": _text(1)})


def _kills(found: Any) -> Table:
    killed = ", ".join(f"{count} {name}s" for name, count in found["killed"].items())
    parts = ", ".join(f"{count} in the {name}" for name, count in found["in"].items())
    return Table.of(
        "kills",
        "Runs that were killed with -9 at a random moment and resumed",
        [found],
        {
            "Kills": _number("kills"),
            "Same bytes at the end": _number("identical"),
            "Killed": lambda _: killed,
            "Where": lambda _: parts,
        },
    )


def _tamperings(found: Any) -> Table:
    return Table.of(
        "tamperings",
        "Single forgeries of a clone, each committed there",
        [found],
        {"Forgeries": _number("tried"), "Found by the audit": _number("found")},
    )


def _device_mutations(found: Any) -> Table:
    return Table.of(
        "device_mutations",
        "Mistakes in the handling of devices, one at a time",
        [found],
        {
            "Mistakes": _number("mistakes"),
            "Noticed by the tests on a simulated device": _number("noticed"),
        },
    )


def _mutation(found: Any) -> Table:
    return Table.of(
        "mutation",
        "Small changes of the code that decides the numbers, one at a time",
        [*found["files"].items(), ("all", found)],
        {
            "Code": _text(0),
            "Changes": lambda file: number(file[1]["total"], 0),
            "Noticed by its tests": lambda file: number(file[1]["killed"], 0),
            "Share": lambda file: _percent(file[1]["killed"] / file[1]["total"]),
        },
    )


def _line_coverage(found: Any) -> Table:
    def share(counts: Any) -> float:
        run, everything = (counts["lines"][k] + counts["branches"][k] for k in ("run", "all"))
        return float(run / everything)

    return Table.of(
        "line_coverage",
        "What the fast tests run of the code, the commands that they start included",
        found.items(),
        {
            "Code": _text(0),
            "Lines": lambda package: number(package[1]["lines"]["all"], 0),
            "Run": lambda package: number(package[1]["lines"]["run"], 0),
            "Branches": lambda package: number(package[1]["branches"]["all"], 0),
            "Taken": lambda package: number(package[1]["branches"]["run"], 0),
            "Share": lambda package: _percent(share(package[1])),
        },
    )


def _text(key: Key) -> Callable[[Any], Cell]:
    return lambda item: Cell(str(item[key]))


def _number(key: Key, decimals: int = 0) -> Callable[[Any], Cell]:
    return lambda item: number(item[key], decimals)


def _share(key: Key, decimals: int = 0) -> Callable[[Any], Cell]:
    return lambda item: _percent(item[key], decimals)


def _percent(share: float, decimals: int = 0) -> Cell:
    return Cell(f"{share:.{decimals}%}", share)


TABLES: dict[str, Callable[[Any], Table]] = {
    make.__name__.removeprefix("_"): make
    for make in (
        *(_training, _quality, _holdout, _lipo_samples, _members, _estimator, _defaults, _runner),
        *(_kills, _tamperings, _line_coverage, _mutation, _device_mutations),
    )
}
