"""The learned-context network as a scikit-learn estimator, for your own tasks."""

from pipeline.estimator.plots import plot_response, plot_task_map
from pipeline.estimator.regressor import LearnedContextRegressor

__all__ = ["LearnedContextRegressor", "plot_response", "plot_task_map"]
