"""Statements of scalar-heavy and small work, which functions.py measures with --small."""

import numpy


def calls(np):
    """Name -> a function to time, over arrays of the module."""
    x, y, z, q = np.arange(10.0), np.arange(10.0), np.zeros(10), np.arange(100.0)
    m, numbers = np.zeros((4, 4)), [1.0, 2.0, 3.0]
    mask, indices, single = q > 50, np.array([1, 2, 3]), np.array(3.5)
    half = numpy.float64(0.5)
    rows, integers, k = [np.arange(3.0) for _ in range(100)], np.array([1, 2, 1]), np.arange(1000.0)
    small, right = np.array([[4.0, 1.0], [2.0, 3.0]]), np.array([1.0, 2.0])
    cube, at, one, table = np.ones((2, 3, 4)), np.asarray(1), numpy.int64(1), np.ones((6, 6))
    rng = np.random.default_rng(1)

    def write(value):
        def run():
            z[3] = value

        return run

    def write_2d():
        m[1, 2] = 1.5

    def write_slice():
        z[2:5] = 0.0

    def add_to_element():
        z[3] += 1.0

    def append_elements():
        out = []
        for v in q:
            out.append(v * 2.0)
        return out

    def by_cells():
        for i in range(1, 6):
            for j in range(1, 6):
                table[i, j] = min(table[i - 1, j], table[i, j - 1]) + 1.0

    def monte_carlo():
        inside = 0
        for _ in range(20):
            u, v = rng.random(), rng.random()
            inside += u * u + v * v < 1.0
        return inside

    return {
        "x + y": lambda: x + y,
        "x * 2.0": lambda: x * 2.0,
        "sin(x)": lambda: np.sin(x),
        "x[i]": lambda: x[3],
        "float(x[i])": lambda: float(x[3]),
        "m[i, j]": lambda: m[1, 2],
        "x[1:4]": lambda: x[1:4],
        "z[i] = 1.5": write(1.5),
        "z[i] = float64": write(half),
        "m[i, j] = 1.5": write_2d,
        "z[2:5] = 0": write_slice,
        "z[i] += 1": add_to_element,
        "array([1., 2., 3.])": lambda: np.array(numbers),
        "array([[..], [..]])": lambda: np.array([[1.0, 2.0], [3.0, 4.0]]),
        "q[[1, 2, 3]]": lambda: q[[1, 2, 3]],
        "q[indices]": lambda: q[indices],
        "q[mask]": lambda: q[mask],
        "for v in x": lambda: [v for v in x],
        "x.tolist()": lambda: x.tolist(),
        "x.item(3)": lambda: x.item(3),
        "float(0-D)": lambda: float(single),
        "x.sum()": lambda: x.sum(),
        "x.max()": lambda: x.max(),
        "x.mean()": lambda: x.mean(),
        "x.argmax()": lambda: x.argmax(),
        "mask.any()": lambda: mask.any(),
        "m.sum(axis=0)": lambda: m.sum(axis=0),
        "x @ y": lambda: x @ y,
        "zeros(10)": lambda: np.zeros(10),
        "arange(10.)": lambda: np.arange(10.0),
        "x.copy()": lambda: x.copy(),
        "x.astype(float32)": lambda: x.astype(numpy.float32),
        "x.reshape(2, 5)": lambda: x.reshape(2, 5),
        "where(mask, q, 0.)": lambda: np.where(mask, q, 0.0),
        "array([a, a])": lambda: np.array([x, x]),
        "array(100 rows)": lambda: np.array(rows),
        "rng.random()": lambda: rng.random(),
        "rng.integers(10)": lambda: rng.integers(10),
        "rng.integers(0, 10, 3)": lambda: rng.integers(0, 10, 3),
        "rng.normal()": lambda: rng.normal(),
        "rng.uniform(0., 1.)": lambda: rng.uniform(0.0, 1.0),
        "rng.shuffle(x)": lambda: rng.shuffle(y),
        "np.argmax(x)": lambda: np.argmax(x),
        "bincount(integers)": lambda: np.bincount(integers),
        "zeros(3)": lambda: np.zeros(3),
        "zeros((3, 3))": lambda: np.zeros((3, 3)),
        "ones(3)": lambda: np.ones(3),
        "empty(3)": lambda: np.empty(3),
        "full(3, 1.)": lambda: np.full(3, 1.0),
        "zeros_like(x)": lambda: np.zeros_like(x),
        "eye(3)": lambda: np.eye(3),
        "linspace(0, 1, 5)": lambda: np.linspace(0, 1, 5),
        "x.flat": lambda: x.flat,
        "list(x.flat)": lambda: list(x.flat),
        "x.flat[3]": lambda: x.flat[3],
        "apply_along_axis(sort)": lambda: np.apply_along_axis(np.sort, 0, m),
        "np.sort(x)": lambda: np.sort(x),
        "max(x)": lambda: max(q),
        "sum(x)": lambda: sum(q),
        "list(x)": lambda: list(q),
        "zip(x, x)": lambda: [None for u, v in zip(q, q)],
        "[v * 2 for v in x]": lambda: [v * 2 for v in q],
        "append(v * 2)": append_elements,
        "for row in m": lambda: [None for r in m],
        "sum(1,000 + 1,000)": lambda: sum(k * 2.0 + k),
        "by cells": by_cells,
        "Monte Carlo": monte_carlo,
        "slogdet(2 x 2)": lambda: np.linalg.slogdet(small),
        "solve(2 x 2)": lambda: np.linalg.solve(small, right),
        "inv(2 x 2)": lambda: np.linalg.inv(small),
        "det(2 x 2)": lambda: np.linalg.det(small),
        "cube[:, :, 0-D]": lambda: cube[:, :, at],
        "q[range(3)]": lambda: q[range(3)],
        "roll(m, int64, 1)": lambda: np.roll(m, one, axis=1),
    }
