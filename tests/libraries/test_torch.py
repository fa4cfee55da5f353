import gc
import warnings
import weakref

import numpy
import numpy as np
import pytest
from table import compare, lines, table

import plait

torch = pytest.importorskip("torch")

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


def nearest(X, means):
    return np.argmin(((X[:, None] - means) ** 2).sum(-1), axis=1)


@plait.jit
def root(x, y):
    return np.sqrt(x * x + 1) + y


@plait.jit
def squares(x):
    total = 0.0
    for v in x:
        total += v * v
    return total


@plait.jit
def fill(x, value):
    x[1:] = value
    return x


def test_an_adaptor_as_it_is():
    @plait.jit
    def tensor_fn(X, means):
        return torch.from_numpy(nearest(X.numpy(), means.numpy()))

    X, means = torch.rand(50, 3), torch.rand(4, 3)
    expected = nearest(X.numpy(), means.numpy())
    for made in (tensor_fn(X, means), plait.jit(nearest)(X, means)):
        assert type(made) is torch.Tensor and made.dtype == torch.int64 and made.tolist() == expected.tolist()


def test_from_numpy_under_its_own_name_and_in_a_function_of_arrays():
    from torch import from_numpy

    @plait.jit
    def f(x):
        y = x + 1
        t = from_numpy(y)
        y *= 2
        import torch

        return t, torch.from_numpy(y), y

    for x in (np.arange(3.0), torch.arange(3.0, dtype=torch.float64)):
        a, b, c = f(x)
        assert type(a) is type(b) is torch.Tensor and a.tolist() == b.tolist() == c.tolist() == [2, 4, 6]
        a[0] = 7
        assert b[0] == c[0] == 7


def test_detach_and_cpu_are_there():
    made = plait.jit(lambda x: x.detach().cpu().numpy() * 2)(torch.ones(3))
    assert type(made) is torch.Tensor and made.tolist() == [2, 2, 2]


def test_values_dtypes_and_memory():
    for dtype in (torch.float32, torch.float64, torch.int64, torch.int8, torch.complex64, torch.float16):
        x = torch.arange(6).to(dtype).reshape(2, 3)
        theirs = torch.from_numpy(x.numpy() * 2)
        made = plait.jit(lambda v: v * 2)(x)
        assert made.dtype == theirs.dtype and torch.equal(made, theirs)
    x, seen = torch.zeros(4), []
    plait.jit(lambda v: seen.append(v.ctypes.data))(x)
    assert seen == [x.data_ptr()] and fill(x, 2) is x and x.tolist() == [0, 2, 2, 2]
    view = plait.jit(lambda v: v[1:])(x)
    assert view.data_ptr() == x.data_ptr() + 4
    assert plait.jit(lambda v: v.T)(torch.zeros(2, 3)).stride() == (1, 3)


def test_loops():
    x = torch.rand(100_000, dtype=torch.float64)
    for _ in range(3):
        made = squares(x)
        assert type(made) is torch.Tensor and made.shape == () and made.item() == squares(x.numpy())


def test_what_torch_has_no_tensors_of():
    x = torch.arange(3.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert plait.jit(lambda v: v[::-1])(x).tolist() == [2, 1, 0]
        made = plait.jit(lambda v: np.broadcast_to(v, (2, 3)))(x)
    made[0, 0] = 5
    assert x[0] == 0 and made[1, 0] == 0
    assert type(plait.jit(lambda v: np.array(["a"]))(x)) is numpy.ndarray


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"])
def test_narrow_dtypes(name):
    pytest.importorskip("ml_dtypes")
    x = torch.arange(4.0).reshape(2, 2).T.to(getattr(torch, name))
    made = plait.jit(lambda v: v + v)(x)
    assert made.dtype == x.dtype and made.float().tolist() == [[0, 4], [2, 6]]
    assert fill(x, 3) is x and x.float().tolist() == [[0, 2], [3, 3]]


REFUSED = [
    ("torch.ones(3, requires_grad=True)", RuntimeError, r"requires grad: give x.detach\(\)"),
    ("torch.nn.Parameter(torch.ones(3))", RuntimeError, r"requires grad: give x.detach\(\)"),
    ("torch.eye(3).to_sparse()", TypeError, r"layout torch.sparse_coo: give x.to_dense\(\)"),
    ("torch.eye(3).to_sparse_csr()", TypeError, r"layout torch.sparse_csr: give x.to_dense\(\)"),
    ("torch.ones(3, device='meta')", TypeError, "on the meta device"),
    ("torch.ones(3, dtype=torch.complex64).conj()", TypeError, r"conjugate bit set: give x.resolve_conj\(\)"),
    ("torch.ones(3, dtype=torch.complex64).conj().imag", TypeError, r"negative bit set: give x.resolve_neg\(\)"),
    ("torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.quint8)", TypeError, r"quantised: give x.dequantize\(\)"),
    ("fake()", TypeError, "torch.compile records"),
    ("torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])", TypeError, r"nested: give the tensors of x.unbind\(\)"),
    ("torch.nested.nested_tensor([torch.ones(2)], layout=torch.jagged)", TypeError, r"nested: give the tensors of x.unbind\(\)"),
    ("torch.ones(3, dtype=torch.complex32)", TypeError, r"torch.complex32, which NumPy has no array for .*: give x.to\(\)"),
]


def fake():
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        return torch.ones(3)


@pytest.mark.parametrize("source, error, says", REFUSED, ids=[source for source, *_ in REFUSED])
@pytest.mark.filterwarnings("ignore")
def test_what_is_refused(source, error, says):
    bad = eval(source, {"torch": torch, "fake": fake})
    for args, place in (((1.0, bad), "y"), (({"k": [bad]}, 1.0), r"x\['k'\]\[0\]")):
        with pytest.raises(error, match=rf"root\(\) got for {place} a torch\.\w+ .*{says}"):
            root(*args)


WRITTEN_FOR_TORCH = {
    "unsqueeze": lambda x: x.unsqueeze(0),
    "size()": lambda x: x.size(),
    "view": lambda x: x.view(-1, 2),
    "one extent": lambda x: x.view(-1),
    "dim=": lambda x: x.sum(dim=1),
    "keepdim=": lambda x: x.mean(0, keepdim=True),
    "unpacked": lambda x: x.max(dim=1).values,
    "in place": lambda x: x.mul_(2),
    "dtype": lambda x: x.dtype == torch.float32,
    "one of two dtypes": lambda x: x.dtype in (torch.float16, torch.bfloat16),
    "torch's function": lambda x: torch.zeros(2, dtype=x.dtype),
    "a result": lambda x: (x * 2 + 1).float(),
    "a comparison": lambda x: (x > 1).long(),
    "transpose": lambda x: x[None].transpose(1, 2),
    "std": lambda x: x.contiguous().std(),
    "data": lambda x: x.data * 2,
}


@pytest.mark.parametrize("name", WRITTEN_FOR_TORCH)
def test_functions_written_for_torch_get_tensors(name):
    f = WRITTEN_FOR_TORCH[name]
    x, y = torch.arange(6.0).reshape(2, 3), torch.arange(6.0).reshape(2, 3)
    made, theirs = plait.jit(f)(x), f(y)
    assert type(made) is type(theirs) and torch.equal(x, y)
    assert torch.equal(made, theirs) if isinstance(made, torch.Tensor) else made == theirs


def test_functions_of_numpys_methods_alone_get_arrays():
    x = torch.arange(6.0).reshape(2, 3)
    for f in (lambda v: v.std(), lambda v: v.transpose(1, 0), lambda v: v.view(np.int32), lambda v: np.add(v, np.exp(v)), lambda v: v.size):
        theirs, made = f(x.numpy()), plait.jit(f)(x)
        assert np.allclose(np.asarray(made), theirs) and np.asarray(made).dtype == np.asarray(theirs).dtype


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 2)

    def forward(self, x):
        return self.layer(x.view(x.size(0), -1))


def test_modules_get_tensors():
    net, x = Net(), torch.rand(4, 3)
    for f in (net, net.forward, lambda x: net(x), lambda x: net.layer(x)):
        made = plait.jit(f)(x)
        assert torch.equal(made, f(x)) and made.requires_grad
    with torch.no_grad():
        made = plait.jit(lambda x, m: m(np.sqrt(x).float()))(x, net)
        assert torch.allclose(made, net(x.sqrt()))


def test_derivatives_of_what_torch_computes():
    w = torch.ones(3, requires_grad=True)
    plait.jit(lambda w: (w.pow(2) * 2).sum())(w).backward()
    assert w.grad.tolist() == [4, 4, 4]
    assert plait.jit(lambda w: w.detach().numpy() * 2)(w).tolist() == [2, 2, 2]


@pytest.mark.parametrize("transform", [torch.func.vmap, torch.func.grad])
def test_torch_transforms_are_refused(transform):
    with pytest.raises(TypeError, match=r"root\(\) got for x a torch.Tensor without memory of its own, .*: call the function outside"):
        transform(lambda v: root(v, 1.0).sum())(torch.ones(3))


def test_torch_compile_leaves_the_function_alone():
    x = torch.ones(3)
    made = torch.compile(lambda v: root(v * 2, 1.0), backend="eager")(x)
    assert made.tolist() == root(x * 2, 1.0).tolist()


def test_memory_lives_as_long_as_it_is_used():
    x = torch.ones(1000)
    gone = weakref.ref(x)
    view = plait.jit(lambda v: v[1:])(x)
    made = root(x, 1)
    del x
    gc.collect()
    assert view.sum() == 999 and made.shape == (1000,)
    del view
    gc.collect()
    assert gone() is None


def test_torch_has_its_way_with_mixed_operands():
    a, t = plait.arange(3.0), torch.ones(3, dtype=torch.float64)
    for made in (a + t, t + a, t - a, torch.add(t, a), torch.stack([t, a])[1] + t):
        assert type(made) is torch.Tensor and made.dtype == torch.float64
    assert (t + a).tolist() == (a + t).tolist() == [1, 2, 3]
    assert torch.relu(a - 1).tolist() == [0, 0, 1]
    assert numpy.shares_memory(numpy.asarray(t), t.numpy())
    made = plait.jit(lambda v: torch.relu(v - 2) + v.numpy())(t)
    assert type(made) is torch.Tensor and made.tolist() == [1, 1, 1]


def test_mixed_libraries():
    jnp = pytest.importorskip("jax.numpy")
    t, j = torch.ones(3), jnp.ones(3)
    assert type(root(t, j)) is torch.Tensor and type(root(j, t)) is type(j)


def test_calls_in_machine_code_do_not_hide_for_whose_arrays_a_function_was_written():
    def counted(x, n):
        s = 0
        for i in range(n):
            s += i
        return s + (x if isinstance(x, int) else x.size(0) + x.dim())

    f, x = plait.jit(counted), torch.ones(4, 2)
    for _ in range(20):
        assert f(3, 5) == 13
    assert f(x, 5) == counted(x, 5) == 16
