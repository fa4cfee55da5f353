#!/usr/bin/env python3
"""Softmax over the rows of a matrix. The rows are read once: the plan is a single region."""
import sys

import plait as np


def softmax(x):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return e / np.sum(e, axis=1, keepdims=True)


n = int(sys.argv[1]) if len(sys.argv) > 1 else 2048
x = np.random.default_rng(0).standard_normal((n, n), dtype=np.float32)
y = softmax(x)
print(np.explain(y))
print("rows sum to", float(np.min(np.sum(y, axis=1))), "...", float(np.max(np.sum(y, axis=1))))
