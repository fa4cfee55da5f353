#!/usr/bin/env python3
"""Decoder-only transformers in plain NumPy, run by NumPy and by Plait: GPT-2 small's shape and a llama of 100 million weights,
which are random. Generates tokens greedily from a cache of keys and values, with weights of float32, bfloat16 (where ml_dtypes is
installed), int8 and int4.

python samples/decoder.py [--small] [--model gpt2 llama] [--tokens 64] [--threads 2]
"""

import argparse
import time
from typing import Any, NamedTuple

import numpy

import plait
from plait import nn

try:
    from ml_dtypes import bfloat16
except ImportError:
    bfloat16 = None


class Shape(NamedTuple):
    name: str
    layers: int
    width: int
    heads: int
    kv_heads: int  # of keys and values, each of which several heads share in a llama
    hidden: int
    vocabulary: int
    context: int = 1024


SHAPES = {
    "gpt2": Shape("GPT-2 small", 12, 768, 12, 12, 3072, 50257),
    "llama": Shape("llama", 12, 768, 12, 4, 2048, 32000),
}
SMALL = {
    "gpt2": Shape("GPT-2 small", 2, 64, 4, 4, 192, 301, 64),
    "llama": Shape("llama", 2, 64, 4, 2, 192, 301, 64),
}
MATRICES = "tokens", "qkv", "out", "up", "gate", "down"
# What becomes of these matrices (in, out).
PRECISIONS = {
    "float32": lambda w: w,
    "bfloat16": lambda w: w.astype(bfloat16),
    "int8": lambda w: nn.quantize(w, "int8", axis=0),
    "int4": lambda w: nn.quantize(w, "int4", axis=0, group=32),
}


# The model: the same source for NumPy and Plait, which come as `np`.


def linear(np, x, w, bias=0):
    return x @ (w.dequantize() if isinstance(w, nn.Quantized) else w) + bias


def layer_norm(np, x, weight, bias):
    x = x - np.mean(x, axis=-1, keepdims=True)
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + 1e-5) * weight + bias


def rms_norm(np, x, weight):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + 1e-5) * weight


def gelu(np, x):
    return 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


def silu(np, x):
    return x / (1 + np.exp(-x))


def rotated(np, x, cos, sin):
    """Rotary embedding: each pair of the two halves of a head, turned by its position."""
    a, b = np.split(x, 2, axis=-1)
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


def attention(np, q, keys, values):
    """q: (kv_heads, heads for each, tokens, d), the last tokens of the keys' (kv_heads, keys, d)."""
    s = q @ np.swapaxes(keys, -1, -2)[:, None] * q.shape[-1] ** -0.5
    if q.shape[-2] > 1:
        queries, count = s.shape[-2:]
        s = np.where(np.arange(count - queries, count)[:, None] >= np.arange(count), s, -np.inf)
    e = np.exp(s - np.max(s, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True) @ values[:, None]


def attend(np, shape, layer, x, cache, at, turned):
    """What a layer's attention adds to the tokens x from position `at` on, whose keys and values go into the cache."""
    count, heads, kv = len(x), shape.heads, shape.kv_heads
    qkv = linear(np, x, layer["qkv"], layer.get("qkv_bias", 0)).reshape(count, heads + 2 * kv, -1).swapaxes(0, 1)
    q, k, v = qkv[:heads], qkv[heads : heads + kv], qkv[heads + kv :]
    if turned is not None:
        q, k = rotated(np, q, *turned), rotated(np, k, *turned)
    keys, values = cache
    keys[:, at : at + count], values[:, at : at + count] = k, v
    y = attention(np, q.reshape(kv, heads // kv, count, -1), keys[:, : at + count], values[:, : at + count])
    y = y.reshape(heads, count, -1).swapaxes(0, 1).reshape(count, -1)
    return linear(np, y, layer["out"], layer.get("out_bias", 0))


def embedded(np, w, tokens):
    """Columns of the matrix that also gives the logits."""
    if isinstance(w, nn.Quantized):
        w = nn.Quantized([a[:, tokens] for a in w], w.axis, w.group).dequantize()
        return w.T
    return w[:, tokens].T.astype("f4")


def gpt2(np, shape, model, caches, tokens, at):
    """The logits after the last of the tokens, which stand at `at` and the positions after it."""
    x = embedded(np, model["tokens"], tokens) + model["positions"][at : at + len(tokens)]
    for layer, cache in zip(model["layers"], caches, strict=True):
        x = x + attend(np, shape, layer, layer_norm(np, x, *layer["norm1"]), cache, at, None)
        h = gelu(np, linear(np, layer_norm(np, x, *layer["norm2"]), layer["up"], layer["up_bias"]))
        x = x + linear(np, h, layer["down"], layer["down_bias"])
    return linear(np, layer_norm(np, x[-1:], *model["norm"]), model["tokens"])[0]


def llama(np, shape, model, caches, tokens, at):
    turned = [table[at : at + len(tokens)] for table in model["turns"]]
    x = embedded(np, model["tokens"], tokens)
    for layer, cache in zip(model["layers"], caches, strict=True):
        x = x + attend(np, shape, layer, rms_norm(np, x, layer["norm1"]), cache, at, turned)
        h = rms_norm(np, x, layer["norm2"])
        x = x + linear(np, silu(np, linear(np, h, layer["gate"])) * linear(np, h, layer["up"]), layer["down"])
    return linear(np, rms_norm(np, x[-1:], model["norm"]), model["tokens"])[0]


MODELS = {"gpt2": gpt2, "llama": llama}


# Weights, generation and the table that is printed.


def weights(kind, s):
    """NumPy's arrays of random weights, by name."""
    random = numpy.random.default_rng(0)

    def floats(*shape, scale=1.0):
        return random.standard_normal(shape, dtype="f4") * numpy.float32(scale)

    def matrix(rows, columns, scale=1.0):
        return floats(rows, columns, scale=scale * rows**-0.5)

    d, kv, deep = s.width, s.kv_heads * s.width // s.heads, (2 * s.layers) ** -0.5
    model: dict[str, Any] = {"tokens": floats(d, s.vocabulary, scale=0.05)}
    layers = [{"qkv": matrix(d, d + 2 * kv), "out": matrix(d, d, deep), "up": matrix(d, s.hidden), "down": matrix(s.hidden, d, deep)} for _ in range(s.layers)]  # fmt: skip
    if kind == "gpt2":

        def norm():
            return 1 + floats(d, scale=0.1), floats(d, scale=0.02)

        model |= {"positions": floats(s.context, d, scale=0.05), "norm": norm(), "layers": layers}
        for layer in layers:
            layer |= {f"{name}_bias": floats(layer[name].shape[1], scale=0.02) for name in ("qkv", "out", "up", "down")}
            layer |= {"norm1": norm(), "norm2": norm()}
        return model
    half = d // s.heads // 2
    angles = numpy.arange(s.context)[:, None] * 1e4 ** (-numpy.arange(half) / half)
    model |= {"turns": [f(angles).astype("f4") for f in (numpy.cos, numpy.sin)], "norm": 1 + floats(d, scale=0.1)}
    for layer in layers:
        layer |= {"gate": matrix(d, s.hidden), "norm1": 1 + floats(d, scale=0.1), "norm2": 1 + floats(d, scale=0.1)}
    return model | {"layers": layers}


def each(x, function):
    """The model with what the function makes of its arrays."""
    if isinstance(x, dict):
        return {k: each(v, function) for k, v in x.items()}
    if isinstance(x, (list, tuple)) and not isinstance(x, nn.Quantized):
        return [each(v, function) for v in x]
    return function(x)


def in_precision(model, precision):
    """Plait's arrays: matrices that multiply in the precision, all others as they are."""
    made = {}
    for name, value in model.items():
        if name == "layers":
            made[name] = [in_precision(layer, precision) for layer in value]
        elif name in MATRICES:
            made[name] = PRECISIONS[precision](plait.asarray(value))
        else:
            made[name] = each(value, plait.asarray)
    plait.evaluate(*arrays_of(made))
    return made


def generate(np, kind, shape, model, prompt, count, given=None):
    """Logits of `count` steps, the tokens with the largest, and seconds after the prompt. Goes on with the tokens `given`, else with its own."""
    size = shape.width // shape.heads
    caches = [[np.zeros((shape.kv_heads, shape.context, size), "f4") for _ in range(2)] for _ in range(shape.layers)]
    logits, chosen, tokens, at = [], [], prompt, 0
    start = time.perf_counter()
    for step in range(count):
        logits.append(MODELS[kind](np, shape, model, caches, np.asarray(tokens), at))
        chosen.append(int(np.argmax(logits[-1])))
        at += len(tokens)
        tokens = [chosen[-1] if given is None else given[step]]
        if step == 0:
            start = time.perf_counter()
    return numpy.array(logits), chosen, time.perf_counter() - start


def arrays_of(x):
    arrays: list[Any] = []
    each(x, lambda a: arrays.extend(a if isinstance(a, nn.Quantized) else [a]))
    return arrays


def bytes_of(x):
    return sum(a.nbytes for a in arrays_of(x))


def compare(kind, shape, count):
    theirs = weights(kind, shape)
    prompt = [int(t) for t in numpy.random.default_rng(1).integers(shape.vocabulary, size=8)]
    exact, said, seconds = generate(numpy, kind, shape, theirs, prompt, count)
    numbers = bytes_of(theirs) // 4
    print(f"{shape.name}: {numbers / 1e6:.1f} million weights, {count} tokens ({len(set(said))} different) after {len(prompt)}.")
    print(f"Differences are of logits, of which the largest is {abs(exact).max():.1f}: from NumPy's with the same weights, and from float32's.")
    print(f"{'':16}{'tokens/s':>9}{'at first':>10}{'MiB':>8}{'from NumPy':>12}{'from float32':>14}{'same tokens':>13}")
    print(f"{'NumPy float32':16}{(count - 1) / seconds:9.1f}{'':10}{bytes_of(theirs) / 2**20:8.1f}")
    for precision in PRECISIONS:
        if precision == "bfloat16" and bfloat16 is None:
            print("Plait bfloat16: ml_dtypes is not installed")
            continue
        ours = in_precision(theirs, precision)
        runs = [generate(plait, kind, shape, ours, prompt, count, said) for _ in range(2)]
        dense = each(ours, lambda a: numpy.asarray(a.dequantize() if isinstance(a, nn.Quantized) else a).astype("f4"))
        want, _, _ = generate(numpy, kind, shape, dense, prompt, count, said)
        got, chosen, _ = runs[-1]
        first, again = ((count - 1) / seconds for _, _, seconds in runs)
        same = sum(a == b for a, b in zip(chosen, said, strict=True))
        print(f"{'Plait ' + precision:16}{again:9.1f}{first:10.1f}{bytes_of(ours) / 2**20:8.1f}{abs(got - want).max():12.1e}{abs(got - exact).max():14.1e}{same:13}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--small", action="store_true", help="a few layers, for a test")
    parser.add_argument("--model", nargs="*", default=list(SHAPES), choices=SHAPES)
    parser.add_argument("--tokens", type=int)
    parser.add_argument("--threads", type=int)
    args = parser.parse_args()
    if args.threads:
        plait.set_num_threads(args.threads)
    for kind in args.model:
        shape = (SMALL if args.small else SHAPES)[kind]
        compare(kind, shape, args.tokens or (12 if args.small else 64))
