"""The paper's sentences, section by section."""

from pipeline.reporting.claims import base, dimension, holdout, sizes

SENTENCES = base.SENTENCES + sizes.SENTENCES + dimension.SENTENCES + holdout.SENTENCES
