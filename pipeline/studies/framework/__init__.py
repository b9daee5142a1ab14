"""What the computations of all studies share: all of it decides numbers."""
