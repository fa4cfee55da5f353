import pytest
from table import compare, lines, table

pytest.importorskip("torch")

SETUP = """
import numpy
import torch
a = np.array([3.0, 1.0, 2.0])
i = np.array([2, 0, 1])
m = np.array([True, False, True])
X = np.arange(12.0).reshape(4, 3)
big = np.arange(100_000.0)
t = torch.arange(3.0, dtype=torch.float64)
n = numpy.asarray
"""
CALLS = lines("""
n(torch.tensor(a))
n(torch.as_tensor(X))
n(torch.from_dlpack(a))
n(torch.from_numpy(a))
n(torch.tensor(big.mean()))
n(torch.tensor([big.sum(), big.max()]))
n(torch.tensor(X, dtype=torch.float32))
n(torch.full((2,), float(a.max())))
n(t * big.mean())
n(t[torch.as_tensor(i)])
n(t[torch.as_tensor(m)])
np.asarray(t).sum()
np.from_dlpack(t) * a
n(torch.utils.data.default_collate([a, a]))
""")
KNOWN = {"n(torch.from_numpy(a))": "it is compiled code that takes the C type only: torch.from_dlpack(a), torch.as_tensor(a)"}


@table(CALLS, KNOWN)
def test_torch(call):
    compare(call, SETUP)
