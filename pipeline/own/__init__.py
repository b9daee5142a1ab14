"""A dataset of one's own: what its file holds, and its entries in params.yaml and sources.yaml."""
