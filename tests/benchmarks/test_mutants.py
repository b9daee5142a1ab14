"""The mutants: every one is a change, and nothing that decides no number is changed."""

from benchmarks.mutants import mutants

SOURCE = '''
"""A docstring."""
LIMIT: int = 3

@decorated(1)
def double(x: int = 0) -> int:
    """Another."""
    if not x < LIMIT and x:
        raise ValueError(f"{x + 1} is too large")
    store.clear()
    return -x * 2.0
'''


def test_every_place_has_its_mutants():
    found = [(mutant.line, mutant.before, mutant.after) for mutant in mutants(SOURCE)]
    assert found == [
        (3, "3", "4"),
        (6, "0", "1"),
        (8, "if not x < LIMIT and x:", "if not (not x < LIMIT and x):"),
        (8, "not x < LIMIT and x", "not x < LIMIT or x"),
        (8, "not x < LIMIT", "not not x < LIMIT"),
        (8, "x < LIMIT", "x <= LIMIT"),
        (8, "x < LIMIT", "x >= LIMIT"),
        (10, "store.clear()", "None"),
        (11, "return -x * 2.0", "return None"),
        (11, "-x * 2.0", "-x / 2.0"),
        (11, "-x", "+x"),
        (11, "2.0", "3.0"),
        (11, "2.0", "1.0"),
    ]


def test_a_mutant_is_the_whole_module_with_one_change():
    first = next(mutants(SOURCE)).source
    assert "LIMIT: int = 4" in first and "raise ValueError" in first
