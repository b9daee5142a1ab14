"""Attempts to misuse the project, one module for each part of it."""
