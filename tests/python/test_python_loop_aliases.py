"""Several names for one array or list in compiled loops, and operands that change what others have read: results and arguments are Python's."""

import pytest
from loop_aliases import CASES
from test_python_loop_forms import outcome

import plait


@pytest.mark.parametrize("f, args", CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_aliases_are_pythons(f, args, at_once):
    jitted, expected = plait.jit(f), outcome(f, args)
    for _ in range(3):
        assert outcome(jitted, args) == expected
