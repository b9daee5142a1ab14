"""Other methods, with default settings, and the task in the way their documentation recommends.

A contestant has `fit`, then `predict`. One that cannot take new rows without a new fit is
fitted again in track 2, with all rows; the mixed models predict a new task by its BLUP instead.
Exceptions to defaults, all in the contestants' favour: scikit-learn's network, GPBoost and TabM
see a standardised target, GPBoost's learning rate is chosen, and TabM's training ends with its
best epoch after a minute of processor time, because it would take an hour on one core.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy.stats import norm

from benchmarks.arena.tracks import SPLITS

LEVEL = 0.9
"""Of prediction intervals."""
HALF_WIDTH = float(norm.ppf(0.5 + LEVEL / 2))


@dataclass(frozen=True)
class LabelledRows:
    """Rows as every contestant gets them: numbers are float64, categories pandas categories."""

    features: pd.DataFrame
    task: np.ndarray
    target: np.ndarray

    @property
    def categories(self) -> list[str]:
        return [str(name) for name, kind in self.features.dtypes.items() if kind == "category"]

    @property
    def numbers(self) -> list[str]:
        return [str(name) for name in self.features if name not in self.categories]

    def __len__(self) -> int:
        return len(self.target)

    def take(self, rows: np.ndarray) -> LabelledRows:
        return LabelledRows(
            self.features.iloc[rows].reset_index(drop=True), self.task[rows], self.target[rows]
        )

    def joined(self, others: LabelledRows) -> LabelledRows:
        return LabelledRows(
            pd.concat([self.features, others.features], ignore_index=True),
            np.concatenate([self.task, others.task]),
            np.concatenate([self.target, others.target]),
        )


@dataclass(frozen=True)
class Predicted:
    """Of every row the mean and, where the contestant offers it, its 90% interval."""

    mean: np.ndarray
    lower: np.ndarray | None = None
    upper: np.ndarray | None = None

    @classmethod
    def normal(cls, mean: np.ndarray, std: np.ndarray) -> Predicted:
        return cls(mean, mean - HALF_WIDTH * std, mean + HALF_WIDTH * std)


class Fitted(ABC):
    """A method; `fit` is called once, `predict` with tasks that were in the fitted rows."""

    refits_new_tasks = True
    """False: `with_new_tasks` keeps what was fitted on other tasks."""

    @abstractmethod
    def fit(self, rows: LabelledRows, seed: int) -> Self: ...

    @abstractmethod
    def predict(self, rows: LabelledRows) -> Predicted: ...

    def with_new_tasks(self, arriving: LabelledRows) -> Self:
        """What can predict the arriving tasks too; this one is not changed."""
        raise NotImplementedError


class Trees(Fitted):
    """Boosted trees that take the task as one more category."""

    def __init__(self, make: Callable[[int, list[int]], Any]) -> None:
        self.make = make

    def fit(self, rows: LabelledRows, seed: int) -> Trees:
        self.tasks = np.unique(rows.task)
        columns = self._columns(rows)
        places = [place for place, kind in enumerate(columns.dtypes) if kind == "category"]
        self.model = self.make(seed, places)
        self.model.fit(columns, rows.target)
        return self

    def predict(self, rows: LabelledRows) -> Predicted:
        return Predicted(np.asarray(self.model.predict(self._columns(rows)), dtype=np.float64))

    def _columns(self, rows: LabelledRows) -> pd.DataFrame:
        task = pd.Categorical(rows.task, categories=self.tasks)
        columns = rows.features.assign(task=task)
        # LightGBM refuses some characters in names, such as those of parkinson.
        return columns.set_axis([f"column_{place}" for place in range(columns.shape[1])], axis=1)


def lightgbm() -> Fitted:
    from lightgbm import LGBMRegressor

    return Trees(lambda seed, _: LGBMRegressor(random_state=seed, n_jobs=1, verbose=-1))


def lightgbm_1000() -> Fitted:
    from lightgbm import LGBMRegressor

    return Trees(
        lambda seed, _: LGBMRegressor(
            random_state=seed, n_jobs=1, verbose=-1, n_estimators=1000, learning_rate=0.05
        )
    )


def xgboost() -> Fitted:
    from xgboost import XGBRegressor

    return Trees(lambda seed, _: XGBRegressor(random_state=seed, n_jobs=1, enable_categorical=True))


def catboost() -> Fitted:
    from catboost import CatBoostRegressor

    return Trees(
        lambda seed, places: CatBoostRegressor(
            random_seed=seed,
            thread_count=1,
            cat_features=places,
            verbose=False,
            allow_writing_files=False,
        )
    )


class HistogramBoosting(Fitted):
    """The task is a category; beyond 255 tasks it is target-encoded, as the user guide says."""

    most_categories = 255

    def fit(self, rows: LabelledRows, seed: int) -> HistogramBoosting:
        from sklearn.compose import make_column_transformer
        from sklearn.ensemble import HistGradientBoostingRegressor
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import TargetEncoder

        self.tasks = np.unique(rows.task)
        boosting = HistGradientBoostingRegressor(random_state=seed)  # categories: "from_dtype"
        if len(self.tasks) <= self.most_categories:
            self.model = boosting
        else:
            encode = make_column_transformer(
                (TargetEncoder(target_type="continuous", random_state=seed), ["task"]),
                remainder="passthrough",
                verbose_feature_names_out=False,
            ).set_output(transform="pandas")
            self.model = make_pipeline(encode, boosting)
        self.model.fit(self._columns(rows), rows.target)
        return self

    def predict(self, rows: LabelledRows) -> Predicted:
        return Predicted(np.asarray(self.model.predict(self._columns(rows))))

    def _columns(self, rows: LabelledRows) -> pd.DataFrame:
        return rows.features.assign(task=pd.Categorical(rows.task, categories=self.tasks))


class ScikitLearnNetwork(Fitted):
    """One-hot categories, the task among them; standardised numbers and target."""

    def fit(self, rows: LabelledRows, seed: int) -> ScikitLearnNetwork:
        from sklearn.compose import TransformedTargetRegressor, make_column_transformer
        from sklearn.neural_network import MLPRegressor
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OneHotEncoder, StandardScaler

        encode = make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore"), [*rows.categories, "task"]),
            remainder=StandardScaler(),
            sparse_threshold=0,
        )
        network = make_pipeline(encode, MLPRegressor(random_state=seed))
        self.model = TransformedTargetRegressor(network, transformer=StandardScaler())
        self.model.fit(rows.features.assign(task=rows.task), rows.target)
        return self

    def predict(self, rows: LabelledRows) -> Predicted:
        return Predicted(np.asarray(self.model.predict(rows.features.assign(task=rows.task))))


class GPBoost(Fitted):
    """Boosted trees of the features with a random intercept of each task (`group_data`).

    Its steps are relative to the noise variance, so that one default rate does not serve all
    targets: a fifth of the rows chooses it. The grid of its documentation's example is 0.01, 0.1
    and 1; this one is finer and wider.
    """

    rates = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)

    def fit(self, rows: LabelledRows, seed: int) -> GPBoost:
        self.shift, self.scale = rows.target.mean(), rows.target.std()
        part = np.random.default_rng(seed).random(len(rows)) < 0.2
        inner, scored = rows.take(np.flatnonzero(~part)), rows.take(np.flatnonzero(part))
        errors = {}
        for rate in self.rates:
            self._train(inner, rate, seed)
            error = float(np.mean((self.predict(scored).mean - scored.target) ** 2))
            errors[rate] = error if np.isfinite(error) else np.inf
        self._train(rows, min(errors, key=lambda rate: errors[rate]), seed)
        return self

    def predict(self, rows: LabelledRows) -> Predicted:
        found = self.model.predict(
            self._numbers(rows), group_data_pred=rows.task, predict_var=True, pred_latent=False
        )
        mean, variance = np.asarray(found["response_mean"]), np.asarray(found["response_var"])
        return Predicted.normal(mean * self.scale + self.shift, np.sqrt(variance) * self.scale)

    def _train(self, rows: LabelledRows, rate: float, seed: int) -> None:
        import gpboost

        groups = gpboost.GPModel(
            group_data=rows.task, likelihood="gaussian", num_parallel_threads=1
        )
        places = [rows.features.columns.get_loc(name) for name in rows.categories]
        target = (rows.target - self.shift) / self.scale
        data = gpboost.Dataset(self._numbers(rows), target, categorical_feature=places or "auto")
        settings = {"verbose": -1, "num_threads": 1, "seed": seed, "learning_rate": rate}
        self.model = gpboost.train(settings, data, gp_model=groups)

    def _numbers(self, rows: LabelledRows) -> np.ndarray:
        coded = rows.features.assign(
            **{name: rows.features[name].cat.codes for name in rows.categories}
        )
        return coded.to_numpy(dtype=np.float64)


class Design:
    """Columns of a linear model: a constant, standardised numbers, one column a level but one.

    Columns that others determine (a level that the fitted rows lack, a repeated number) are left
    out, since statsmodels cannot invert the moments otherwise.
    """

    def __init__(self, rows: LabelledRows) -> None:
        self.mean = rows.features[rows.numbers].mean()
        self.std = rows.features[rows.numbers].std().replace(0.0, 1.0)
        self.kept: list[int] | None = None
        self.kept = independent_columns(self(rows))

    def __call__(self, rows: LabelledRows) -> np.ndarray:
        numbers = (rows.features[rows.numbers] - self.mean) / self.std
        levels = [
            pd.get_dummies(rows.features[name], drop_first=True, dtype=float).to_numpy()
            for name in rows.categories
        ]
        matrix = np.column_stack([np.ones(len(rows)), numbers.to_numpy(), *levels])
        return matrix if self.kept is None else matrix[:, self.kept]


def independent_columns(matrix: np.ndarray) -> list[int]:
    """The columns, first ones first, that are no linear combination of those before."""
    diagonal = np.abs(np.diag(np.linalg.qr(matrix / np.linalg.norm(matrix, axis=0).clip(1e-12))[1]))
    return [int(column) for column in np.flatnonzero(diagonal > 1e-8)]


class MixedModel(Fitted):
    """statsmodels' MixedLM: all features as fixed effects, an intercept of each task and, with
    `slopes`, slopes of the first numbers that vary within tasks (at most three).

    A task's effects are the BLUP, with the fitted variances and the rows at hand; so a new task
    needs no fit. The interval has three parts: the noise, the conditional covariance of the task's
    effects and the covariance of the fixed effects.
    """

    refits_new_tasks = False
    most_slopes = 3

    def __init__(self, slopes: bool) -> None:
        self.slopes = slopes

    def fit(self, rows: LabelledRows, seed: int) -> MixedModel:
        from statsmodels.regression.mixed_linear_model import MixedLM

        self.shift, self.scale = rows.target.mean(), rows.target.std()
        self.design = Design(rows)
        self.varying = self._varying(rows) if self.slopes else []
        fixed, random = self.design(rows), self._random(rows)
        target = self._standardised(rows)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = MixedLM(target, fixed, groups=rows.task, exog_re=random).fit()
        self.effects = np.asarray(found.fe_params)
        self.noise = float(found.scale)
        self.covariance = np.atleast_2d(np.asarray(found.cov_re))
        size = len(self.effects)
        self.effects_covariance = np.nan_to_num(np.asarray(found.cov_params())[:size, :size])
        if not np.all(np.isfinite(self.effects)) or not np.isfinite(self.noise):
            raise ArithmeticError("the fit did not converge to finite numbers")
        self.rows = rows
        return self

    def with_new_tasks(self, arriving: LabelledRows) -> MixedModel:
        extended = copy(self)
        extended.rows = self.rows.joined(arriving)
        return extended

    def predict(self, rows: LabelledRows) -> Predicted:
        fixed, random = self.design(rows), self._random(rows)
        mean = fixed @ self.effects
        variance = np.empty(len(rows))
        known_fixed = self.design(self.rows)
        residual = self._standardised(self.rows) - known_fixed @ self.effects
        known_random = self._random(self.rows)
        known = pd.Series(self.rows.task).groupby(self.rows.task).indices
        for task, places in pd.Series(rows.task).groupby(rows.task).indices.items():
            rows_known = known.get(task, np.empty(0, dtype=int))
            z = known_random[rows_known]
            gain = (
                self.covariance
                @ z.T
                @ np.linalg.inv(z @ self.covariance @ z.T + self.noise * np.eye(len(z)))
            )
            left = self.covariance - gain @ z @ self.covariance
            mean[places] += random[places] @ (gain @ residual[rows_known])
            # An error of the fixed effects is partly made up for by the task's own effects.
            direct = fixed[places] - random[places] @ gain @ known_fixed[rows_known]
            variance[places] = quadratic(random[places], left)
            variance[places] += quadratic(direct, self.effects_covariance)
        std = np.sqrt(np.maximum(variance, 0.0) + self.noise)
        return Predicted.normal(mean * self.scale + self.shift, std * self.scale)

    def _standardised(self, rows: LabelledRows) -> np.ndarray:
        return (rows.target - self.shift) / self.scale

    def _varying(self, rows: LabelledRows) -> list[str]:
        spread = rows.features[rows.numbers].groupby(rows.task).nunique().max()
        return [name for name in rows.numbers if spread[name] > 1][: self.most_slopes]

    def _random(self, rows: LabelledRows) -> np.ndarray:
        slopes = (rows.features[self.varying] - self.design.mean[self.varying]) / self.design.std[
            self.varying
        ]
        return np.column_stack([np.ones(len(rows)), slopes.to_numpy()])


def quadratic(rows: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Of every row x: x' M x."""
    return np.asarray(np.einsum("ij,jk,ik->i", rows, matrix, rows))


def mixed_intercept() -> Fitted:
    return MixedModel(slopes=False)


def mixed_slopes() -> Fitted:
    return MixedModel(slopes=True)


class MixedEffectsForest(Fitted):
    """MERF: its default forest on one thread, and a random intercept of each task."""

    def fit(self, rows: LabelledRows, seed: int) -> MixedEffectsForest:
        from merf import MERF
        from sklearn.ensemble import RandomForestRegressor

        forest = RandomForestRegressor(n_estimators=300, n_jobs=1, random_state=seed)
        self.model = MERF(fixed_effects_model=forest)
        self.model.fit(self._x(rows), np.ones((len(rows), 1)), pd.Series(rows.task), rows.target)
        return self

    def predict(self, rows: LabelledRows) -> Predicted:
        found = self.model.predict(self._x(rows), np.ones((len(rows), 1)), pd.Series(rows.task))
        return Predicted(np.asarray(found))

    def _x(self, rows: LabelledRows) -> np.ndarray:
        return pd.get_dummies(rows.features, dtype=float).to_numpy(dtype=np.float64)


class RealMLP(Fitted):
    """pytabkit's RealMLP with tuned defaults; the task is a category."""

    def fit(self, rows: LabelledRows, seed: int) -> RealMLP:
        from pytabkit import RealMLP_TD_Regressor

        self.model = RealMLP_TD_Regressor(random_state=seed, device="cpu", n_threads=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.model.fit(
                self._columns(rows), rows.target, cat_col_names=[*rows.categories, "task"]
            )
        return self

    def predict(self, rows: LabelledRows) -> Predicted:
        return Predicted(np.asarray(self.model.predict(self._columns(rows)), dtype=np.float64))

    def _columns(self, rows: LabelledRows) -> pd.DataFrame:
        columns = rows.features.assign(task=rows.task)
        names = [*rows.categories, "task"]
        return columns.assign(**{name: columns[name].astype(str) for name in names})


class TabM(Fitted):
    """The package has a model and no training loop; ours is in `tabm_network`."""

    seconds = 60.0

    def fit(self, rows: LabelledRows, seed: int) -> TabM:
        from benchmarks.arena.tabm_network import fit_network

        self.tasks = np.unique(rows.task)
        self.model = fit_network(
            self._columns(rows), rows.target, [*rows.categories, "task"], seed, self.seconds
        )
        return self

    def predict(self, rows: LabelledRows) -> Predicted:
        return Predicted(self.model(self._columns(rows)))

    def _columns(self, rows: LabelledRows) -> pd.DataFrame:
        return rows.features.assign(task=pd.Categorical(rows.task, categories=self.tasks))


@dataclass(frozen=True)
class Contestant:
    name: str
    title: str
    make: Callable[[], Fitted]
    package: str
    """The distribution whose version is part of a cell's key."""
    note: str
    code: tuple[Hashable, ...]
    """Functions, classes, files and folders whose source is part of a cell's key."""
    cost: float = 1.0
    """Seconds a row, relative to LightGBM's; orders the queue."""
    known_splits: int = SPLITS
    new_splits: int = SPLITS
    preload: tuple[str, ...] = ()
    """Modules that take seconds to import: once, and not in each cell's process."""
    most_rows: Mapping[str, int] = field(default_factory=dict)
    """Of a track: larger tables are left out, for the time that they would take."""

    def takes_part(self, track: str, rows: int) -> bool:
        return rows <= self.most_rows.get(track, rows)


OTHERS: Mapping[str, Contestant] = {
    one.name: one
    for one in (
        Contestant(
            "lightgbm", "LightGBM", lightgbm, "lightgbm", "task: category", (lightgbm, Trees)
        ),
        Contestant(
            "lightgbm-1000",
            "LightGBM, 1000 trees",
            lightgbm_1000,
            "lightgbm",
            "rate 0.05; task: category",
            (lightgbm_1000, Trees),
            cost=6,
        ),
        Contestant(
            "xgboost",
            "XGBoost",
            xgboost,
            "xgboost",
            "enable_categorical; task: category",
            (xgboost, Trees),
            cost=3,
        ),
        Contestant(
            "histogram-boosting",
            "HistGradientBoosting",
            HistogramBoosting,
            "scikit-learn",
            "task: category; beyond 255 tasks target-encoded",
            (HistogramBoosting,),
            cost=3,
        ),
        Contestant(
            "mixed-intercept",
            "Mixed model, intercept",
            mixed_intercept,
            "statsmodels",
            "MixedLM; task: group; new tasks by BLUP",
            (mixed_intercept, MixedModel, Design),
        ),
        Contestant(
            "mixed-slopes",
            "Mixed model, slopes",
            mixed_slopes,
            "statsmodels",
            "MixedLM, slopes of up to three numbers; task: group; new tasks by BLUP",
            (mixed_slopes, MixedModel, Design),
            cost=10,
        ),
        Contestant(
            "gpboost",
            "GPBoost",
            GPBoost,
            "gpboost",
            "task: group_data; rate chosen on a fifth of the rows",
            (GPBoost,),
            cost=4,
        ),
        Contestant(
            "sklearn-mlp",
            "MLPRegressor",
            ScikitLearnNetwork,
            "scikit-learn",
            "task: one-hot; standardised target",
            (ScikitLearnNetwork,),
            cost=20,
            known_splits=3,
        ),
        Contestant(
            "catboost",
            "CatBoost",
            catboost,
            "catboost",
            "cat_features; task: category",
            (catboost, Trees),
            cost=15,
            known_splits=3,
        ),
        Contestant(
            "realmlp",
            "RealMLP",
            RealMLP,
            "pytabkit",
            "RealMLP_TD; task: category",
            (RealMLP,),
            cost=100,
            known_splits=1,
            preload=("pytabkit",),
            most_rows={"known": 19_999, "new": 2500},
        ),
        Contestant(
            "merf",
            "MERF",
            MixedEffectsForest,
            "merf",
            "task: cluster, random intercept",
            (MixedEffectsForest,),
            cost=200,
            known_splits=1,
            most_rows={"known": 2000, "new": 700},
        ),
        Contestant(
            "tabm",
            "TabM",
            TabM,
            "tabm",
            f"task: category; ends with its best epoch after {TabM.seconds:g} s",
            (TabM, Path(__file__).with_name("tabm_network.py")),
            cost=400,
            preload=("torch",),
            known_splits=1,
            new_splits=0,
            most_rows={"known": 3000},
        ),
    )
}
