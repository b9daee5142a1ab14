import pytest

from learned_context.search.space import Dimension, table_6

RANGES = {
    "peak_rate": (1e-4, 1.5),
    "width": (50, 500),
    "lambda_shared": (1e-15, 1e-5),
    "lambda_task": (1e-15, 1e-3),
    "task_dim": (1, 25),
}


def names(kind, tasks=100):
    return [dimension.name for dimension in table_6(kind, tasks, **RANGES).free]


def test_only_networks_with_task_parameters_search_for_them():
    shared = ["peak_rate", "width", "lambda_shared"]
    assert names("lc") == names("ll") == [*shared, "lambda_task", "task_dim"]
    assert names("cs") == names("fs") == shared


def test_there_are_never_more_task_parameters_than_tasks():
    (dimension,) = (d for d in table_6("lc", 7, **RANGES).dimensions if d.name == "task_dim")
    assert (dimension.low, dimension.high) == (1, 7)


def test_one_task_leaves_a_box_without_that_dimension():
    box = table_6("lc", 1, **RANGES)
    assert "task_dim" not in [dimension.name for dimension in box.free]
    point = [sum(dimension.bounds()) / 2 for dimension in box.free]
    assert box.hyperparameters(point).task_dim == 1


def test_the_ends_of_the_box_are_the_ends_of_the_table():
    box = table_6("lc", 100, **RANGES)
    low = box.hyperparameters([dimension.bounds()[0] for dimension in box.free])
    high = box.hyperparameters([dimension.bounds()[1] for dimension in box.free])
    assert (low.peak_rate, low.width, low.lambda_task, low.task_dim) == (1e-4, 50, 1e-15, 1)
    assert (high.peak_rate, high.width, high.lambda_shared, high.task_dim) == (1.5, 500, 1e-5, 25)


def test_the_middle_of_a_logarithmic_dimension_is_the_geometric_mean():
    dimension = Dimension("rate", 1e-4, 1.0, logarithmic=True)
    assert dimension.value(sum(dimension.bounds()) / 2) == pytest.approx(1e-2)
