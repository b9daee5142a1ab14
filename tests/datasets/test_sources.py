from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from learned_context.errors import UserError
from pipeline import settings
from pipeline.datasets import registry, sources
from pipeline.files import Files
from tests.conftest import ROOT


def test_every_parsed_dataset_has_a_paper_edition_and_the_chosen_one() -> None:
    known = sources.load(ROOT / "raw" / "sources.yaml")
    assert sorted(known.dataset) == sorted(registry.GENERATED + registry.PARSED)
    chosen = settings.load(Files(ROOT))
    for dataset, editions in known.dataset.items():
        paper = editions["paper"]
        assert paper.comparable and paper.differs == ""
        known.edition(dataset, chosen.dataset(dataset).edition)
        for name, edition in editions.items():
            assert name == "paper" or edition.differs
            assert edition.by_hand.startswith("http") or dataset in registry.GENERATED


def test_unknown_edition_and_dataset() -> None:
    known = sources.load(ROOT / "raw" / "sources.yaml")
    with pytest.raises(UserError) as caught:
        known.edition("height", "lancet")
    assert str(caught.value) == (
        "params.yaml: dataset.height.edition: 'lancet' is not in raw/sources.yaml; "
        "valid: elife_2016_adults, lancet_2020_regions, paper"
    )
    with pytest.raises(UserError, match=r"^raw/sources.yaml: no dataset 'iris'; valid: bike"):
        known.edition("iris", "paper")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        (
            "md5",
            "x",
            "dataset.schools.paper.files[0]: unknown key 'md5'; valid: addresses, git_blob,",
        ),
        (
            "sha256",
            "abc",
            "dataset.schools.paper.files[0].sha256: 'abc' is not valid; string should",
        ),
        ("name", "../x", "dataset.schools.paper.files[0].name: '../x' is not valid; string should"),
        ("addresses", ["file:///etc/passwd"], "dataset.schools.paper.files[0].addresses[0]: 'file"),
        ("mirror", "../secret", "dataset.schools.paper.files[0].mirror: '../secret' is not valid"),
        ("mirror", "a/../../b", "dataset.schools.paper.files[0].mirror: 'a/../../b' is not valid"),
        ("mirror", "/etc/passwd", "dataset.schools.paper.files[0].mirror: '/etc/passwd' is not"),
        ("mirror", "a\0b", "dataset.schools.paper.files[0].mirror: 'a\\x00b' is not valid"),
        ("addresses", ["ftp://x"], "dataset.schools.paper.files[0].addresses[0]: 'ftp://x' is not"),
    ],
)
def test_mistakes_in_the_file(tmp_path: Path, key: str, value: object, message: str) -> None:
    content = yaml.safe_load((ROOT / "raw" / "sources.yaml").read_text())
    content["dataset"]["schools"]["paper"]["files"][0][key] = value
    path = tmp_path / "sources.yaml"
    path.write_text(yaml.safe_dump(content))
    with pytest.raises(UserError) as caught:
        sources.load(path)
    assert str(caught.value).startswith(f"{path}: {message}")
    assert "\n" not in str(caught.value)
