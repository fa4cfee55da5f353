#!/usr/bin/env python3
"""Causal attention in plain NumPy: the same source under NumPy and Plait, where it is a single region."""
import sys
import time

import numpy
import plait

def attention(np, q, k, v):
    s = np.matmul(q, np.swapaxes(k, -1, -2)) / np.sqrt(np.float32(q.shape[-1]))
    i = np.arange(q.shape[-2])
    s = np.where(i[:, None] >= i, s, -np.inf)
    e = np.exp(s - np.max(s, axis=-1, keepdims=True))
    return np.matmul(e / np.sum(e, axis=-1, keepdims=True), v)

def seconds(np, operands, rounds=5):
    times, result = [], numpy.empty(0)
    for _ in range(rounds):
        start = time.perf_counter()
        result = numpy.asarray(attention(np, *operands))
        times.append(time.perf_counter() - start)
    return min(times), result

n = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
operands = numpy.random.default_rng(0).standard_normal((3, 8, n, 64), dtype=numpy.float32)
operands_of_plait = [plait.asarray(x) for x in operands]
print(plait.explain(attention(plait, *operands_of_plait)))
theirs, want = seconds(numpy, operands)
ours, got = seconds(plait, operands_of_plait)
print(f"NumPy {theirs * 1e3:.1f} ms, Plait {ours * 1e3:.1f} ms, largest difference {numpy.abs(got - want).max():.1e}")
