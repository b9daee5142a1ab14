"""An audit of the versioned results: what a reviewer can find out without trusting anyone."""
