import subprocess
import sys

import pytest
from table import compare, lines, table

pytest.importorskip("jax").config.update("jax_enable_x64", True)

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
