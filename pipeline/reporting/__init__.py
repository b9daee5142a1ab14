"""Tables, figures, pages and the paper check. Reads results; imports neither torch nor training."""
