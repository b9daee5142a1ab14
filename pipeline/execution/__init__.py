"""Plans and runs the stale stages of a DVC repository in parallel; DVC stays the record."""
