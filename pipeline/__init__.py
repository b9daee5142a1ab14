"""A DVC pipeline around "Multi-task neural networks by learned contextual inputs"."""

__version__ = "0.1.0"
