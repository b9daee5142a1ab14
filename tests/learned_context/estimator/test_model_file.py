"""Save and load: the same estimator again, and clear errors for what is not one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from learned_context.errors import UserError
from learned_context.estimator import LearnedContextRegressor, model_file
from tests.learned_context.estimator.conftest import QUICK

FEATURES = ["x", "side"]


@pytest.fixture
def saved(lc: LearnedContextRegressor, new: pd.DataFrame, tmp_path: Path) -> Path:
    few = new[new.well == "w20"].head(2)
    lc.add_task("w20", few[FEATURES], few.y)
    lc.save(tmp_path / "wells.safetensors")
    return tmp_path / "wells.safetensors"


def test_the_same_again(lc: LearnedContextRegressor, saved: Path, known: pd.DataFrame) -> None:
    back = LearnedContextRegressor.load(saved)
    rows, labels = known[FEATURES], np.where(known.index % 5, known.well, "w20")
    for left, right in zip(
        (*lc.predict(rows, labels, return_std=True), *lc.predict_interval(rows, labels)),
        (*back.predict(rows, labels, return_std=True), *back.predict_interval(rows, labels)),
        strict=True,
    ):
        assert (left == right).all()
    assert back.get_params() == lc.get_params()
    pd.testing.assert_frame_equal(back.task_parameters_, lc.task_parameters_)
    for name in ("n_iter_", "n_features_in_", "noise_std_", "loss_curve_", "hyperparameters_"):
        assert getattr(back, name) == getattr(lc, name)
    back.add_task("later", rows.head(4), known.y.head(4))


def test_equal_estimators_are_equal_files(
    lc: LearnedContextRegressor, saved: Path, tmp_path: Path
) -> None:
    LearnedContextRegressor.load(saved).save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == saved.read_bytes()


@pytest.mark.parametrize("kind", ["cs", "ll", "fs"])
def test_other_kinds_and_arrays(kind: Any, tmp_path: Path) -> None:
    x = np.linspace(0, 1, 40)[:, None]
    task = np.repeat([4, 9], 20)
    settings = {**QUICK, "epochs": np.int64(3), "random_state": np.random.RandomState(0)}
    estimator = LearnedContextRegressor(kind=kind, **settings).fit(x, x[:, 0] + task, task)
    estimator.save(tmp_path / "model")
    back = LearnedContextRegressor.load(str(tmp_path / "model"))
    assert (back.predict(x, task) == estimator.predict(x, task)).all()
    assert not hasattr(back, "feature_names_in_")


def rewritten(path: Path, change: Callable[[dict[str, Any], dict[str, Any]], object]) -> None:
    """Change header and arrays, and write a file whose digest fits."""
    with safe_open(path, framework="pt") as file:
        header = json.loads(file.metadata()[model_file.KEY])
    arrays = load_file(path)
    change(header, arrays)
    arrays = {name: value.contiguous() for name, value in arrays.items()}
    if header["digest"] != "0":
        header.pop("digest")
        header["digest"] = model_file._digest(header, arrays)
    save_file(arrays, path, metadata={model_file.KEY: json.dumps(header)})


def test_a_newer_file(saved: Path) -> None:
    rewritten(saved, lambda header, _: header.update(format=99))
    with pytest.raises(UserError, match="format 99, but this version reads 6"):
        LearnedContextRegressor.load(saved)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h, a: h.update(digest="0"), "damaged"),
        (lambda h, a: h["voices"][0].update(shape={}), "not a readable"),
        (lambda h, a: h.update(labels=["a"]), "labels"),
        (lambda h, a: h["labels"].append("extra"), "not as many labels as tasks"),
        (lambda h, a: h["labels"].__setitem__(1, h["labels"][0]), "labels repeat"),
        (lambda h, a: h["calibration"].update(noise=-1), "no noise"),
        (lambda h, a: h["calibration"].update(noise="x"), "not a readable"),
        (lambda h, a: h["calibration"]["known"]["sizes"].pop(), "not whole"),
        (lambda h, a: h["voices"][0].update(noise=0), "part 0 has no noise"),
        (lambda h, a: h["voices"][0].update(weight=-1), "not shares"),
        (lambda h, a: h["voices"][0]["added_weights"].update({"1": -0.5}), "added_weights of 1 "),
        (lambda h, a: h["voices"][0]["added_weights"].update({"1": 3}), "added_weights of 1 rows"),
        (lambda h, a: h["voices"][0]["added_weights"].pop("2"), "different numbers of rows"),
        (lambda h, a: [v["added_weights"].update({"0": 1}) for v in h["voices"]], "below one"),
        (lambda h, a: h["voices"][0].pop("added_weights"), "added_weights"),
        (lambda h, a: a.pop("0.uncertain"), "uncertain"),
        (lambda h, a: a["0.uncertain"].mul_(-1), "part 0 has an uncertain prior"),
        (lambda h, a: a.update({"0.uncertain": a["0.uncertain"][:, :1]}), "size of uncertain"),
        (lambda h, a: a["rows"].sub_(9), "rows are not counts"),
        (lambda h, a: h["settings"].update(no=1), "not a readable"),
        (lambda h, a: h["columns"].update(names=["x"], levels=[None]), "number of features"),
        (lambda h, a: a.update({"scaler.x_std": a["scaler.x_std"][:1]}), "number of features"),
        (lambda h, a: a["scaler.x_std"].mul_(-1), "numbers above zero"),
        (lambda h, a: a["scaler.y"].mul_(float("nan")), "numbers above zero"),
        (lambda h, a: a["0.network.W2"].fill_(float("nan")), "not numbers"),
        (lambda h, a: a["0.posterior.means"].fill_(float("inf")), "not numbers"),
        (lambda h, a: a["0.posterior.weights"].mul_(5), "part 0 has modes whose weights"),
        (lambda h, a: a["0.posterior.weights"].fill_(0), "part 0 has modes whose weights"),
        (
            lambda h, a: a["0.posterior.covariances"].mul_(-1),
            "covariances that are none",
        ),
        (lambda h, a: a.pop("0.posterior.covariances"), "part 0 lacks its covariances"),
        (lambda h, a: a.update(rows=a["rows"].double()), "rows has the wrong type float64"),
        (lambda h, a: a.update({"scaler.y": a["scaler.y"].half()}), "scaler.y has the wrong type"),
        (lambda h, a: h["calibration"]["known"]["sizes"].__setitem__(3, 0.0), "not whole"),
        (lambda h, a: h["calibration"]["known"]["sizes"].reverse(), "falls with the level"),
        (lambda h, a: h["calibration"]["added"].update({"0": h["calibration"]["known"]}), "below"),
        (lambda h, a: h["settings"].update(unknown="zz"), "unknown must be one of"),
        (lambda h, a: h["settings"].update(members=-3), "members must be an integer"),
        (lambda h, a: h.update(added_levels={"none": ["a"]}), "levels are not as"),
        (lambda h, a: h.update(added_levels={"side": ["left"]}), "levels are not as"),
        (lambda h, a: h["columns"]["names"].__setitem__(0, "side"), "levels are not as"),
        (lambda h, a: h.update(losses="abc"), "could not convert string to float"),
        (lambda h, a: h.update(has_tasks="no"), "has_tasks does not go with"),
        (lambda h, a: h["labels"].__setitem__(0, None), "a task label is missing"),
        (lambda h, a: h["labels"].__setitem__(0, 3), "task labels must be all strings"),
        (lambda h, a: h.update(sort="number"), "labels are of another sort"),
        (lambda h, a: h.update(has_tasks=False), "has_tasks does not go with"),
        (
            lambda h, a: a.update({"0.posterior.means": a["0.posterior.means"][:, :-1]}),
            "another number of tasks",
        ),
        (
            lambda h, a: a.update(
                {"0.posterior.covariances": a["0.posterior.covariances"][:, :-1]}
            ),
            "covariances of another size",
        ),
    ],
)
def test_an_inconsistent_file_is_refused(change: Any, message: str, saved: Path) -> None:
    rewritten(saved, change)
    with pytest.raises(UserError, match=rf"wells\.safetensors.*{message}") as error:
        LearnedContextRegressor.load(saved)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "change",
    [
        lambda a: a["basis.0.root"].fill_(float("nan")),
        lambda a: a["basis.0.points"].fill_(float("inf")),
        lambda a: a["basis.1.lengths"].mul_(-1),
        lambda a: a["basis.0.features"].add_(50),
        lambda a: a.update({"basis.1.root": a["basis.1.root"][:, :1]}),
        lambda a: a["linear.slopes"].add_(1000),
        lambda a: a["linear.slopes"].sub_(1000),
        lambda a: a["linear.covariance"].mul_(-1),
        lambda a: a.update({"linear.covariance": a["linear.covariance"][:1, :1]}),
    ],
)
def test_an_inconsistent_model_of_curves_is_refused(change: Any, saved: Path) -> None:
    def change_curves(_: Any, arrays: dict[str, Any]) -> None:
        place = next(name for name in arrays if ".basis.1." in name).split(".")[0]
        own = {n.removeprefix(f"{place}."): a for n, a in arrays.items()}
        change(own)
        arrays.update({n if n in arrays else f"{place}.{n}": a for n, a in own.items()})

    rewritten(saved, change_curves)
    with pytest.raises(UserError, match=r"wells\.safetensors.*not a whole mixed model"):
        LearnedContextRegressor.load(saved)


@pytest.mark.parametrize("place", ["start", "header", "end", "cut", "empty", "text"])
def test_a_damaged_file(place: str, saved: Path) -> None:
    content = bytearray(saved.read_bytes())
    where = {"start": 3, "header": 20, "end": len(content) - 5}.get(place)
    if where is not None:
        content[where] ^= 0x55
    cut = {"cut": bytes(content[:-100]), "empty": b"", "text": b"hello world, not a model"}
    saved.write_bytes(cut.get(place, bytes(content)))
    with pytest.raises(UserError, match=r"wells\.safetensors") as error:
        LearnedContextRegressor.load(saved)
    assert "\n" not in str(error.value)


def test_integer_labels_stay_exact(tmp_path: Path) -> None:
    x = np.linspace(0, 1, 60)[:, None]
    labels = [2**53, 2**53 + 1, 2**60 + 7]
    task = np.repeat(labels, 20)
    y = np.repeat([0.0, 5.0, 10.0], 20) + x[:, 0]
    estimator = LearnedContextRegressor(**QUICK).fit(x, y, task)
    estimator.save(tmp_path / "model")
    for one in (estimator, LearnedContextRegressor.load(tmp_path / "model")):
        assert one.tasks_ == labels
        assert one.predict(x[:1], 2**53 + 1)[0] == pytest.approx(5, abs=1.5)
        with pytest.raises(ValueError, match=str(2**60 + 8)):
            one.predict(x[:1], 2**60 + 8)


def test_what_is_not_a_model_file(saved: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="a folder, not a file"):
        LearnedContextRegressor.load(tmp_path)
    with pytest.raises(UserError, match=r"^/dev/null: a device, pipe or socket, not a file"):
        LearnedContextRegressor.load("/dev/null")
    with pytest.raises(ValueError, match=r"device must be auto, cpu.* not 'abacus'"):
        LearnedContextRegressor.load(saved, device="abacus")


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="does not exist"):
        LearnedContextRegressor.load(tmp_path / "none")


def test_an_ensemble_whose_arrays_share_memory_is_saved(tmp_path: Path) -> None:
    """A linear model's population and its tasks' means can be views of one array."""
    x = np.linspace(-1, 1, 60).reshape(30, 2)
    task = np.array(["a", "b", "c"] * 10)
    model = LearnedContextRegressor(quality="fast", members=1, epochs=3, width=8, random_state=1)
    model.fit(x, x @ [2.0, -1.0] + np.arange(30) % 3, task=task).save(tmp_path / "model")
    again = LearnedContextRegressor.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(x, task), model.predict(x, task))
