"""A task may arrive with a level of a category that no fitted row has."""

from __future__ import annotations

from copy import copy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from learned_context.estimator import LearnedContextRegressor

FEATURES = ["x", "soil", "side"]
UNKNOWN = "none of the fitted categories"


def rows_of(tasks: range, soils: list[str], seed: int) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    rows = pd.DataFrame({"field": np.repeat(list(tasks), 8)})
    rows["x"] = random.uniform(-1, 1, len(rows))
    rows["soil"] = np.array(soils)[rows.field % len(soils)]
    rows["side"] = random.choice(["left", "right"], len(rows))
    rows["y"] = rows.field % 5 + 2 * rows.x + random.normal(0, 0.1, len(rows))
    return rows


@pytest.fixture(scope="module")
def fitted() -> LearnedContextRegressor:
    rows = rows_of(range(20), ["clay", "peat", "sand"], 0)
    model = LearnedContextRegressor(quality="fast", random_state=0, device="cpu")
    return model.fit(rows[FEATURES], rows.y, rows.field)


@pytest.fixture
def model(fitted: LearnedContextRegressor) -> LearnedContextRegressor:
    return copy(fitted)


@pytest.mark.parametrize("dtype", ["object", "category"])
def test_a_new_task_brings_a_new_level(model: LearnedContextRegressor, dtype: str) -> None:
    new = rows_of(range(20, 23), ["chalk"], 1).astype({"soil": dtype})
    with pytest.warns(UserWarning, match="'soil': no fitted row has 'chalk'; counted as an avera"):
        model.add_tasks(new[FEATURES], new.y, new.field)
    predicted = model.predict(new[FEATURES], new.field)
    assert np.sqrt(np.mean((predicted - new.y) ** 2)) < 0.5


def test_it_counts_as_an_average_level(model: LearnedContextRegressor) -> None:
    """Of two levels as well, which have one column and no indicators."""
    new = rows_of(range(20, 21), ["chalk"], 1).assign(side="top")
    with pytest.warns(UserWarning) as warned:
        model.add_task(20, new[FEATURES], new.y)
    assert [str(one.message).split(":")[0] for one in warned] == ["column 'soil'", "column 'side'"]
    encoded = model.added_levels_.encode(new[FEATURES], model.columns_, means := np.arange(6.0))
    assert model.columns_.encoded_names[1:] == [
        *("soil", "soil=clay", "soil=peat", "soil=sand"),
        "side",
    ]
    assert (encoded[:, 1:] == means[1:]).all()
    assert (encoded[:, 0] == new.x).all()


def test_it_is_known_from_then_on(
    model: LearnedContextRegressor, tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    new = rows_of(range(20, 22), ["chalk"], 1)
    first, second = new[new.field == 20], new[new.field == 21]
    model.add_task(20, first[FEATURES], first.y)
    recwarn.clear()
    model.add_task(21, second[FEATURES], second.y)
    assert not [one for one in recwarn if "chalk" in str(one.message)]
    model.save(tmp_path / "model.safetensors")
    loaded = LearnedContextRegressor.load(tmp_path / "model.safetensors", device="cpu")
    left, right = (one.predict(new[FEATURES], new.field) for one in (model, loaded))
    assert (left == right).all()


def test_another_row_of_an_added_task_brings_one(model: LearnedContextRegressor) -> None:
    new = rows_of(range(20, 21), ["clay"], 1)
    model.add_task(20, new[FEATURES], new.y)
    later = rows_of(range(20, 21), ["chalk"], 2)
    with pytest.warns(UserWarning, match="'soil': no fitted row has 'chalk'"):
        model.predict(later[FEATURES], later.field)
    mixed = pd.concat([later, rows_of(range(1), ["chalk"], 2)])
    with pytest.raises(ValueError, match=UNKNOWN), pytest.warns(UserWarning):
        model.predict(mixed[FEATURES].assign(soil=["chalk"] * 8 + ["loess"] * 8), mixed.field)


def test_an_update_of_a_fitted_task_brings_one(model: LearnedContextRegressor) -> None:
    more = rows_of(range(1), ["chalk"], 1)
    with pytest.warns(UserWarning, match="'soil': no fitted row has 'chalk'"):
        model.update_task(0, more[FEATURES], more.y)
    assert np.sqrt(np.mean((model.predict(more[FEATURES], more.field) - more.y) ** 2)) < 0.5


def test_without_a_new_task_it_is_an_error(model: LearnedContextRegressor) -> None:
    known = rows_of(range(2), ["chalk"], 1)
    with pytest.raises(ValueError, match=f"column 'soil': 'chalk' is {UNKNOWN} 'clay', 'peat'"):
        model.predict(known[FEATURES], known.field)


def test_a_task_that_is_refused_leaves_no_level(model: LearnedContextRegressor) -> None:
    known = rows_of(range(1), ["chalk"], 1)
    with pytest.warns(UserWarning), pytest.raises(ValueError, match="already there"):
        model.add_task(0, known[FEATURES], known.y)
    with pytest.raises(ValueError, match=UNKNOWN):
        model.predict(known[FEATURES], known.field)


def test_a_missing_level_stays_an_error(model: LearnedContextRegressor) -> None:
    new = rows_of(range(20, 21), ["chalk"], 1)
    new.loc[0, "soil"] = None
    with pytest.warns(UserWarning), pytest.raises(ValueError, match="NaN, in column 'soil'"):
        model.add_task(20, new[FEATURES], new.y)
