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
    rows = [
        [
            Cell(size["name"]),
            number(size["times_skorch"], 2),
            number(size["times_plain"], 2),
            _percent(size["share_of_matrix_product"]),
            _percent(size["products_share"]),
        ]
        for size in found["sizes"]
    ]
    return Table(
        "training",
        f"Training on one thread, epochs a second; two processes are "
        f"{found['two_processes']:.2f} times as fast as one, "
        f"and the largest needs {found['peak_megabytes']:.0f} MB",
        (
            "Rows x features, tasks, width",
            "Times skorch",
            "Times a plain loop",
            "Of the matrix product's speed",
            "Products alone, of our time",
        ),
        rows,
    )


def _quality(found: Any) -> Table:
    rows = [
        [
            Cell(one["dataset"]),
            number(one["rmse"], 3),
            number(one["target"], 3),
            number(one["epochs"], 0),
            number(one["cpu_seconds"], 1),
        ]
        for one in found
    ]
    return Table(
        "quality",
        "Test error at a small fixed budget, without a search, on one thread",
        ("Dataset", "Error", "At most", "Epochs", "Processor seconds"),
        rows,
    )


def _members(found: Any) -> Table:
    rows = [
        [Cell(size["name"]), Cell(size["optimizer"]), number(size["times_one_by_one"], 2)]
        for size in found["sizes"]
    ]
    return Table(
        "members",
        f"{found['members']} networks trained side by side, in batched products",
        ("Rows x features, tasks, width, batch", "Optimiser", "Times as fast as one by one"),
        rows,
    )


def _defaults(found: Any) -> Table:
    return Table(
        "defaults",
        f"Ways to combine the estimator's settings, on validation rows of "
        f"{len(found['datasets'])} datasets: mean error relative to each dataset's best",
        ("Combination, or one setting alone", "Relative error"),
        [[Cell(name), number(error, 4)] for name, error in found["summary"].items()],
    )


def _holdout(found: Any) -> Table:
    rows = [
        [
            Cell(str(one.get("task_dim", "all"))),
            number(one["fits"], 0),
            number(one["times_as_fast"], 1),
            _percent(one["share_no_worse"], 1),
            number(one["gauss_newton_rmse"], 3),
            number(one["lipo_rmse"], 3),
        ]
        for one in (*found["task_dims"], found["all"])
    ]
    return Table(
        "holdout",
        "Fits of held-out tasks on frequency: Gauss-Newton beside LIPO",
        ("Task parameters", "Fits", "Times as fast", "No worse", "Error", "LIPO's error"),
        rows,
    )


def _estimator(found: Any) -> Table:
    rows = []
    for one in found["new_tasks"]:
        covered = f"95% intervals cover {one['coverage_of_95']:.1%}"
        said = f"{one['ratio']:.3f} of full training's; {covered}"
        rows.append([Cell(f"error on a task added with {one['rows']} rows"), Cell(said)])
    for name, value in found["seconds"].items():
        rows.append([Cell(name.replace("_", " ")), Cell(f"{value:.3g} s")])
    large = found["large_fit"]
    said = (
        f"{large['seconds']:.0f} s, {large['rows_a_second']:.0f} rows a second, "
        f"{large['peak_memory_gb']:.2f} GB"
    )
    rows.append([Cell("fit 1000000 rows of 10000 tasks"), Cell(said)])
    return Table(
        "estimator",
        "The estimator on frequency, processor time of one thread",
        ("What", "Measured"),
        rows,
    )


def _lipo_samples(found: Any) -> Table:
    many, few = found["samples"]
    rows = [
        [
            number(one["task_dim"], 0),
            _percent(one["share"]),
            number(one["times_as_fast"], 2),
            number(one["median_difference"], 2),
            number(one["median_objective"], 1),
        ]
        for one in found["cells"]
    ]
    return Table(
        "lipo_samples",
        f"LIPO on {found['tasks']} held-out tasks of frequency: {few} samples a point beside "
        f"dlib's own {many}",
        ("Task parameters", "Rows", "Times as fast", "Median difference", "Of an objective of"),
        rows,
    )


def _runner(found: Any) -> Table:
    rows = [
        [Cell("two workers beside one"), Cell(f"{found['gain']:.2f} times as fast")],
        [Cell(f"{found['stages']} empty stages"), Cell(f"{found['run_of_empty_stages']:.0f} s")],
        [Cell("dvc repro with nothing to do"), Cell(f"{found['repro_of_nothing']:.1f} s")],
    ]
    return Table("runner", "The runner", ("What", "Measured"), rows)


def _kills(found: Any) -> Table:
    killed = ", ".join(f"{count} {name}s" for name, count in found["killed"].items())
    parts = ", ".join(f"{count} in the {name}" for name, count in found["in"].items())
    counts = number(found["kills"], 0), number(found["identical"], 0)
    return Table(
        "kills",
        "Runs that were killed with -9 at a random moment and resumed",
        ("Kills", "Same bytes at the end", "Killed", "Where"),
        [[*counts, Cell(killed), Cell(parts)]],
    )


def _tamperings(found: Any) -> Table:
    return Table(
        "tamperings",
        "Single forgeries of a clone, each committed there",
        ("Forgeries", "Found by the audit"),
        [[number(found["tried"], 0), number(found["found"], 0)]],
    )


def _device_mutations(found: Any) -> Table:
    return Table(
        "device_mutations",
        "Mistakes in the handling of devices, one at a time",
        ("Mistakes", "Noticed by the tests on a simulated device"),
        [[number(found["mistakes"], 0), number(found["noticed"], 0)]],
    )


def _mutation(found: Any) -> Table:
    files = [(path, file["total"], file["killed"]) for path, file in found["files"].items()]
    return Table(
        "mutation",
        "Small changes of the code that decides the numbers, one at a time",
        ("Code", "Changes", "Noticed by its tests", "Share"),
        [
            [Cell(name), number(total, 0), number(killed, 0), _percent(killed / total)]
            for name, total, killed in (*files, ("all", found["total"], found["killed"]))
        ],
    )


def _line_coverage(found: Any) -> Table:
    kinds = ("lines", "branches")
    return Table(
        "line_coverage",
        "What the fast tests run of the code, the commands that they start included",
        ("Code", "Lines", "Run", "Branches", "Taken", "Share"),
        [
            [
                Cell(package),
                *(number(counts[kind][which], 0) for kind in kinds for which in ("all", "run")),
                _percent(
                    sum(counts[kind]["run"] for kind in kinds)
                    / sum(counts[kind]["all"] for kind in kinds)
                ),
            ]
            for package, counts in found.items()
        ],
    )


def _percent(share: float, decimals: int = 0) -> Cell:
    return Cell(f"{share:.{decimals}%}", share)


TABLES: dict[str, Callable[[Any], Table]] = {
    "training": _training,
    "quality": _quality,
    "holdout": _holdout,
    "lipo_samples": _lipo_samples,
    "members": _members,
    "estimator": _estimator,
    "defaults": _defaults,
    "runner": _runner,
    "kills": _kills,
    "tamperings": _tamperings,
    "line_coverage": _line_coverage,
    "mutation": _mutation,
    "device_mutations": _device_mutations,
}
