"""Every choice that was made where the paper is silent or can be read in two ways."""

from __future__ import annotations

from pipeline.files import parse_yaml
from pipeline.reporting.blocks import asset
from pipeline.settings import Section


class Choice(Section):
    topic: str
    paper: str  # what the paper says, if anything
    here: str
    keys: tuple[str, ...] = ()  # in params.yaml, or profile.<key> in the profile


TOPICS = {
    topic: tuple(map(Choice.model_validate, choices))
    for topic, choices in parse_yaml("choices.yaml", asset("choices.yaml")).items()
}
CHOICES = [choice for choices in TOPICS.values() for choice in choices]
