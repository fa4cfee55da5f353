"""What a type checker has to know of Plait; scripts/types.sh checks it, and runs it."""

import os

import numpy
import plait as np
from numpy.typing import NDArray


def standardise(x: np.ndarray) -> np.ndarray:
    return (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0))


def on_numpys_side(x: NDArray[numpy.float64]) -> float:
    return float(x.sum())


x = np.zeros((3, 4))
theirs: numpy.ndarray = x.to_numpy()
views = x.T[1:].reshape(-1).astype(np.float32).to_numpy()
assert type(theirs) is numpy.ndarray and views.shape == (9,)
assert on_numpys_side(x) == 0.0
spread: np.ndarray = standardise(np.arange(12.0).reshape(4, 3))
text: str = np.explain(np.exp(x) + 1)
with np.trace(os.devnull):
    diagonal = float(np.trace(np.eye(3), offset=0))
threads: int = np.get_num_threads()
np.config.threads = 3
attended = np.nn.attention(np.ones((2, 4)), np.ones((3, 4)), np.ones((3, 5)))
version: str = np.__plait_version__
on_device = np.asarray([1.0, 2.0], device="cpu").to_device("cpu")
chosen = np.where(x > 0, x, 1.0).copy()
solved = np.linalg.norm(np.linspace(0.0, 1.0, 5))


@np.jit
def doubled(a: NDArray[numpy.float64]) -> NDArray[numpy.float64]:
    return np.multiply(a, 2)


with np.default_dtype("float32"):
    small = np.ones(3)
result: NDArray[numpy.float64] = doubled(numpy.ones(3))
rng = np.random.default_rng(0)
noise = rng.standard_normal((2, 3))
print(small.dtype, result, noise.shape, chosen.shape, solved)
