import json

import pytest
import torch
from safetensors.torch import save_file

from learned_context.errors import UserError
from learned_context.training.storage import load_network, save_network
from learned_context.training.trainer import train
from tests.learned_context.training.test_trainer import HYPER, PLAN, waves


@pytest.fixture(scope="module")
def trained():
    return train(waves(), 6, "lc", HYPER, PLAN, seed=1)


def test_a_saved_network_predicts_the_same_bits(trained, tmp_path):
    path = tmp_path / "model.safetensors"
    save_network(path, trained)
    loaded = load_network(path)
    assert (loaded.predict(waves()) == trained.predict(waves())).all()
    assert loaded.network.shape == trained.network.shape


def test_the_file_is_the_same_to_the_byte_when_written_again(trained, tmp_path):
    save_network(tmp_path / "a", trained)
    save_network(tmp_path / "b", trained)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("keep", [0, 5, 100, -1])
def test_a_file_cut_short_is_a_clear_error(trained, tmp_path, keep):
    path = tmp_path / "model.safetensors"
    save_network(path, trained)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(UserError, match=r"model\.safetensors: not a readable model file"):
        load_network(path)


def test_a_pickle_is_not_a_model(tmp_path):
    path = tmp_path / "model.safetensors"
    torch.save({"a": torch.zeros(3)}, path)
    with pytest.raises(UserError, match="not a readable model file"):
        load_network(path)


def test_another_format_is_refused(tmp_path):
    path = tmp_path / "model.safetensors"
    save_file({"a": torch.zeros(3)}, path, metadata={"learned_context": json.dumps({"format": 9})})
    with pytest.raises(UserError, match="model format 9 is not 1"):
        load_network(path)


def test_a_model_without_one_of_its_parameters_is_a_clear_error(trained, tmp_path):
    path = tmp_path / "model.safetensors"
    header = {"format": 1, "shape": trained.network.shape.as_dict()}
    tensors = {"scaler.x_mean": torch.zeros(1), "scaler.x_std": torch.ones(1)}
    tensors |= {"scaler.y": torch.ones(2), "network.A": torch.zeros(16, 1)}
    save_file(tensors, path, metadata={"learned_context": json.dumps(header)})
    with pytest.raises(UserError, match="parameter 'L' is missing"):
        load_network(path)


def test_a_missing_model_names_the_remedy(tmp_path):
    with pytest.raises(UserError, match=r"nothing: does not exist"):
        load_network(tmp_path / "nothing")
