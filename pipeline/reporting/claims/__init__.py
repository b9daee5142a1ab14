"""The paper's sentences, section by section."""

from pipeline.reporting.claims import base, dimension, holdout, sizes
from pipeline.reporting.sentences import Sentence

SENTENCES = tuple(
    found
    for section in (base, sizes, dimension, holdout)
    for found in vars(section).values()
    if isinstance(found, Sentence)
)
