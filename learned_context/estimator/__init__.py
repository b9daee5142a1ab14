"""Many related tasks as a scikit-learn estimator."""

from learned_context.estimator.plots import plot_response, plot_task_map
from learned_context.estimator.regressor import LearnedContextRegressor
from learned_context.estimator.routing import cross_val_predict

__all__ = ["LearnedContextRegressor", "cross_val_predict", "plot_response", "plot_task_map"]
