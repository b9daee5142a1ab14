"""A user's dataset: what its file holds, and its entries in params.yaml and sources.yaml."""
