"""Several names for one array or list in compiled loops, and operands that change what others have read: results and arguments are Python's."""

import pytest
from loop_aliases import CASES
from loop_checks import check



@pytest.mark.parametrize("f, args", CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_aliases_are_pythons(f, args, at_once):
    check(f, args)
