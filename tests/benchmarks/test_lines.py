"""The lines of code that CONTRIBUTING.md's command counts."""

from benchmarks.lines import lines_of_code

SOURCE = '''
"""A module."""

import os  # counts


# does not count
class Folder:
    """Has a place."""

    place: str = """two
    lines"""
    """Where it is."""
'''


def test_blank_lines_comments_and_docstrings_are_no_code(tmp_path):
    path = tmp_path / "module.py"
    path.write_text(SOURCE)
    assert lines_of_code(path) == 4
