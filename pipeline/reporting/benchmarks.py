"""What the scripts in benchmarks/ have measured, as tables for docs/.

They run by hand and not as stages: their times belong to one machine. `results/SHA256SUMS` seals
what they wrote. assets/benchmarks.yaml says what is shown of it.
"""

from __future__ import annotations

from collections.abc import Callable
from string import Formatter
from typing import Any

from learned_context.errors import UserError
from pipeline.files import Files, parse_yaml, read_json
from pipeline.reporting.blocks import Cell, Table, asset
from pipeline.reporting.formatting import show
from pipeline.reporting.results import benchmark_path
from pipeline.settings import Section


class BenchmarkTable(Section):
    caption: str
    rows: str = ""
    columns: dict[str, str]


TABLES = {
    name: BenchmarkTable.model_validate(table)
    for name, table in parse_yaml("benchmarks.yaml", asset("benchmarks.yaml")).items()
}


def tables(files: Files, *names: str) -> str:
    """The tables of these benchmarks as Markdown; one that has not run says so."""
    return "\n".join(_markdown(files, name) for name in names)


def _markdown(files: Files, name: str) -> str:
    path = benchmark_path(files, name)
    command = f"python benchmarks/{name}.py"
    if not path.exists():
        return f"`{command}` has not run yet.\n"
    try:
        table = _table(name, read_json(path))
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise UserError(
            f"{path}: not what benchmarks/{name}.py writes ({error!r}); `git checkout` restores it"
        ) from error
    return f"{table.markdown()}\nMade by `{command}`.\n"


def _table(name: str, content: Any) -> Table:
    shown = TABLES[name]
    content = DERIVED.get(name, lambda found: found)(content)
    rows = content[shown.rows] if shown.rows else [content]
    if isinstance(rows, dict):
        rows = [
            {"name": key, **(row if isinstance(row, dict) else {"value": row})}
            for key, row in rows.items()
        ]
    return Table(
        name,
        _FORMATTER.format(shown.caption, **content),
        tuple(shown.columns),
        [[_cell(field, row) for field in shown.columns.values()] for row in rows],
    )


def _cell(field: str, row: dict[str, Any]) -> Cell:
    """A number where decimals are given, otherwise text."""
    (_, name, decimals, _), *_ = _FORMATTER.parse(field)
    value, _ = _FORMATTER.get_field(str(name), (), row)
    text = _FORMATTER.format_field(value, str(decimals))
    return Cell(text, value if decimals else None)


class _NumbersForPeople(Formatter):
    def format_field(self, value: Any, decimals: str) -> str:
        if decimals.endswith("%"):
            return f"{value:.{decimals}}"
        return show(value, int(decimals)) if decimals else str(value)


_FORMATTER = _NumbersForPeople()


# -- what a table shows and its file does not hold as such ----------------------------------------


def _estimator(found: Any) -> Any:
    measured = {
        f"error on a task added with {one['rows']} rows": f"{one['ratio']:.3f} of full training's; "
        f"95% intervals cover {one['coverage_of_95']:.1%}"
        for one in found["new_tasks"]
    }
    measured |= {name.replace("_", " "): f"{s:.3g} s" for name, s in found["seconds"].items()}
    large = found["large_fit"]
    measured["fit 1000000 rows of 10000 tasks"] = (
        f"{large['seconds']:.0f} s, {large['peak_memory_gb']:.2f} GB"
    )
    measured["predict them"] = f"{large['seconds_of_predict']:.3g} s"
    return {"measured": measured}


def _added_tasks(found: Any) -> Any:
    ways = {
        how: {f"rows_{count}": ratio for count, ratio in ratios.items()}
        for how, ratios in found["summary"]["ratios"].items()
    }
    return {"count": len(found["datasets"]), "ways": ways}


def _random_settings(found: Any) -> Any:
    def by_rows(case: Any) -> str:
        errors = case["error_by_rows_a_task"].items()
        return ", ".join(f"{error:.3f} with {rows} rows a task" for rows, error in errors)

    def gaussian(case: Any) -> str:
        errors = (case["gaussian"] or {}).items()
        return ", ".join(f"{error:.3f} {scale}" for scale, error in errors) or "-"

    cases = [{**one, "by_rows": by_rows(one), "gaussian": gaussian(one)} for one in found]
    return {"cases": cases}


def _runner(found: Any) -> Any:
    measured = {
        "two workers beside one": f"{found['gain']:.2f} times as fast",
        f"{found['stages']} empty stages": f"{found['run_of_empty_stages']:.0f} s",
        "dvc repro with nothing to do": f"{found['repro_of_nothing']:.1f} s",
    }
    return {"measured": measured}


def _kills(found: Any) -> Any:
    killed = ", ".join(f"{count} {name}s" for name, count in found["killed"].items())
    where = ", ".join(f"{count} in the {name}" for name, count in found["in"].items())
    return {**found, "killed_of_each": killed, "where": where}


def _mutation(found: Any) -> Any:
    files = {**found["files"], "all": {"total": found["total"], "killed": found["killed"]}}
    shares = {name: {**one, "share": one["killed"] / one["total"]} for name, one in files.items()}
    return {"files": shares}


def _line_coverage(found: Any) -> Any:
    def share(package: Any) -> float:
        run, every = (package["lines"][k] + package["branches"][k] for k in ("run", "all"))
        return float(run / every)

    return {"packages": {name: {**one, "share": share(one)} for name, one in found.items()}}


DERIVED: dict[str, Callable[[Any], Any]] = {
    "quality": lambda found: {"cases": found},
    "holdout": lambda found: {"cases": [*found["task_dims"], {"task_dim": "all", **found["all"]}]},
    "defaults": lambda found: {**found, "count": len(found["datasets"])},
    "added_tasks": _added_tasks,
    "random_settings": _random_settings,
    "estimator": _estimator,
    "runner": _runner,
    "kills": _kills,
    "mutation": _mutation,
    "line_coverage": _line_coverage,
}
