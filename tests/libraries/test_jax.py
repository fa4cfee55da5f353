import subprocess
import sys

import numpy
import pytest
from table import compare, lines, table

import plait

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)
jnp, n = jax.numpy, numpy.asarray

SETUP = """
import jax
import jax.numpy as jnp
import numpy
from jax import lax
a = np.array([3.0, 1.0, 2.0])
i = np.array([2, 0, 1])
m = np.array([True, False, True])
X = np.arange(12.0).reshape(4, 3)
j = jnp.arange(3.0)
f = lambda x: (x * x).sum()
n = numpy.asarray
"""
CALLS = lines("""
n(jnp.asarray(a))
n(jnp.array(X, dtype=jnp.float32))
n(jax.device_put(a))
n(jnp.sin(a))
n(jnp.dot(X, X.T))
n(jnp.where(m, a, 0.0))
n(jnp.stack([a, j]))
n(j + a)
n(a + j)
n(a * j)
n(j @ X.T)
n(j[i])
n(j[m])
n(j.at[i].set(a))
n(jax.jit(f)(a))
n(jax.jit(lambda x: x + a)(j))
n(jax.grad(f)(a))
n(jax.vmap(f)(X))
n(jax.value_and_grad(f)(a)[1])
n(lax.scan(lambda c, x: (c + x, c), 0.0, a)[1])
n(jax.tree.map(jnp.sin, {"a": a})["a"])
n(jax.nn.softmax(a))
n(jnp.linalg.solve(np.eye(3), a))
n(jax.dlpack.from_dlpack(a))
np.asarray(j).sum()
np.array(j) + a
np.from_dlpack(j) * a
n(jax.jit(lambda x: x * 2)(a.mean()))
n(jnp.asarray(a.sum()))
n(jax.random.normal(jax.random.key(int(i[0])), X.shape)).shape
""")


@table(CALLS, {})
def test_jax(call):
    compare(call, SETUP)


@pytest.mark.parametrize("order", ["plait, jax.numpy", "jax.numpy, plait"])
def test_either_is_imported_first(order):
    source = f"import {order}\nassert jax.numpy.sin(plait.zeros(3)).sum() == 0"
    subprocess.run([sys.executable, "-c", source], check=True)


@plait.jit
def root(x, y):
    return numpy.sqrt(x * x + 1) + y


@plait.jit
def squares(x):
    total = 0.0
    for v in x:
        total += v * v
    return total


@plait.jit
def fill(x):
    x[0] = 1


@plait.jit
def parts(d):
    return d["a"], [d["b"][0] * 2, d["a"].sum()]


def test_jitted_functions_give_jaxs_arrays():
    x = jnp.arange(1000.0)
    for made, theirs in ((root(x, x), numpy.sqrt(n(x) * n(x) + 1) + n(x)), (squares(x), squares(n(x)))):
        assert isinstance(made, jax.Array) and made.dtype == theirs.dtype and n(made).tolist() == theirs.tolist()
    same, (doubled, total) = parts({"a": x, "b": (x,)})
    assert same is x and isinstance(doubled, jax.Array) and float(total) == float(x.sum())
    assert isinstance(root(n(x), x), jax.Array) and n(plait.jit(lambda v: v[::-2])(x)).tolist() == n(x)[::-2].tolist()


def test_memory_is_lent():
    x, seen = jnp.arange(1000.0), []
    plait.jit(lambda v: seen.append(v.ctypes.data))(x)
    assert seen == [x.unsafe_buffer_pointer()]


def test_narrow_dtypes():
    for dtype in (jnp.bfloat16, jnp.float8_e4m3fn):
        made = plait.jit(lambda v: v * v)(jnp.arange(4).astype(dtype))
        assert isinstance(made, jax.Array) and made.dtype == dtype and made.astype(float).tolist() == [0, 1, 4, 9]


def test_jaxs_arrays_are_read_only():
    with pytest.raises(ValueError, match="assignment destination is read-only"):
        fill(jnp.arange(3.0))


def test_what_jax_traces_is_refused():
    with pytest.raises(TypeError, match=r"root\(\) got for x a jax.* that JAX traces.*jax.pure_callback"):
        jax.jit(lambda v: root(v, 1.0))(jnp.arange(3.0))
    x = jnp.arange(3.0)
    called = jax.jit(lambda v: jax.pure_callback(lambda w: root(w, 1.0), v, v))(x)
    assert n(called).tolist() == (numpy.sqrt(n(x) ** 2 + 1) + 1).tolist()
