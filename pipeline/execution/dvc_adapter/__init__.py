"""The only code that knows DVC from within: its Python API is private and may change.

Tested with the versions in `TESTED`; tests/execution/test_dvc_adapter.py fails with another one
until the tests of this package have passed there.
"""

TESTED = ("3.67.1",)
