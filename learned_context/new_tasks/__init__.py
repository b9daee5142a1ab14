"""New tasks on a frozen network: the MAP estimate of their parameters, and its uncertainty."""
