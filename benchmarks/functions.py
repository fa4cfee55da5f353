#!/usr/bin/env python3
"""Every public function of NumPy's namespace on arrays of a few and of many elements: Plait beside NumPy, by turns in one process.

    python benchmarks/functions.py                                  # what is below 0.9 of NumPy's speed
    python benchmarks/functions.py sort 'linalg.*' --below 9        # all cells of some
    python benchmarks/functions.py --sizes 3 --dtypes float64 --small

The best of the rounds counts. What is recorded is computed before the clock is read. Says how many functions it covers, and which it
has no arguments for. `--small`: statements on small arrays instead, `--json` is what run.py reads.
"""

import argparse
import fnmatch
import io
import json
import os
import statistics
import tempfile
import time
import types
import warnings

import numpy

import plait
import statements

DTYPES = ["float64", "float32", "int64", "int32", "uint8", "float16", "bool", "complex128"]
SIZES = [3, 100, 3000, 1_000_000]

# Arguments over the names of arguments(): of a function, one text or several. What NumPy refuses of a dtype is left out.
ROWS = {
    "allclose array_equal array_equiv isclose": "x, x",
    "apply_along_axis": "np.sort, 0, few",
    "apply_over_axes": "np.sum, few, [0]",
    "arange": "n",
    "arccosh acosh": "w",
    "argmax argmin max min amax amin sum prod mean std var any all ptp median": ["x", "m, 0", "m, 1"],
    "argpartition partition": "x, n // 2",
    "argsort sort": ["x", "x, kind='stable'", "m, 0"],
    "argwhere flatnonzero nonzero count_nonzero": ["x", "mask"],
    "array": ["x", "numbers"],
    "array_split split": "x, 1",
    "array2string array_repr array_str": "x[:100]",
    "asarray asanyarray ascontiguousarray asfortranarray asarray_chkfinite": ["x", "numbers"],
    "astype": ["x, np.float32", "x, np.float64", "x, np.int64"],
    "bartlett blackman hamming hanning": "n",
    "base_repr binary_repr": "1234567",
    "bincount": "i",
    "bitwise_left_shift bitwise_right_shift left_shift right_shift": ["x, y", "x, 3"],
    "block": "[x, y]",
    "broadcast_arrays": "x, y",
    "broadcast_shapes": "(3, 1), (1, 4)",
    "broadcast_to": "x, (2, n)",
    "busday_count busday_offset": "days, 3",
    "can_cast promote_types": "np.float32, np.float64",
    "choose": "mask.astype(np.int64), [x, y]",
    "clip": ["x, 1, 2", "x, y, y"],
    "compress extract": "mask, x",
    "concat concatenate hstack vstack stack dstack column_stack row_stack": ["(x, y)", "pieces"],
    "convolve correlate": "x, x[:5]",
    "copyto": "x.copy(), y",
    "corrcoef cov": "small",
    "cross": "threes, threes",
    "cumulative_prod cumulative_sum": "x",
    "datetime_as_string": "days[:100]",
    "datetime_data": "days.dtype",
    "delete": "x, 1",
    "diag diagflat": "x[:100]",
    "diag_indices tri": "side",
    "diag_indices_from fill_diagonal": "small.copy()",
    "digitize searchsorted": ["x, ordered", "ordered, x"],
    "divide true_divide floor_divide remainder mod fmod divmod": ["x, y", "x, 3", "3, x"],
    "dot inner vdot": ["x, y", "m, m[0]"],
    "einsum": ["'i,i', x, y", "'ij->j', m", "'i,i->i', x, y"],
    "einsum_path": "'ij,jk', small, small",
    "empty zeros ones": "n",
    "empty_like zeros_like ones_like": "x",
    "expand_dims": "x, 0",
    "eye identity": "side",
    "float_power": "x, 1.7",
    "format_float_positional format_float_scientific": "1.5",
    "frombuffer": "x.tobytes(), x.dtype",
    "fromfile": "path, x.dtype",
    "fromfunction": "lambda i: i * 2, (n,)",
    "fromiter": "numbers, float",
    "frompyfunc": "abs, 1, 1",
    "fromstring": "text, sep=' '",
    "full": "n, 3.0",
    "full_like": "x, 1",
    "genfromtxt loadtxt": "io.StringIO(text)",
    "geomspace logspace": "1, 100, n",
    "gradient diff ediff1d": "x",
    "histogram histogram_bin_edges": "x, 10",
    "histogram2d": "x, y, 10",
    "histogramdd": "m[:, :2], 10",
    "hsplit vsplit": "few, 1",
    "dsplit": "few[..., None], 1",
    "unstack": "few",
    "indices": "(side, side)",
    "info": None,
    "insert": "x, 1, 1",
    "interp": "x, ordered, y",
    "isdtype": "x.dtype, 'integral'",
    "isfortran isscalar iscomplexobj iterable": "x",
    "isin setdiff1d union1d intersect1d setxor1d": "x, y[:10]",
    "issubdtype": "x.dtype, np.floating",
    "ix_": "i, i",
    "kaiser": "n, 3.0",
    "kron": "x[:100], y[:100]",
    "ldexp": "x, 3",
    "lexsort": "(x, y)",
    "linspace": "0, 1, n",
    "load": "saved",
    "mask_indices": "side, np.triu",
    "matmul": ["x, y", "small, small"],
    "matvec": "m, m[0]",
    "may_share_memory shares_memory": "x, y",
    "meshgrid": "x[:100], y[:100]",
    "min_scalar_type": "3",
    "mintypecode": "'fd'",
    "moveaxis": "m, 0, 1",
    "nested_iters bmat info fromregex from_dlpack test show_config show_runtime get_include": None,
    "outer": "x[:100], y[:100]",
    "packbits": "mask",
    "pad": "x, 2",
    "percentile quantile nanpercentile nanquantile": "x, 0.5",
    "piecewise": "x, [mask, ~mask], [1, 2]",
    "place putmask": "x.copy(), mask, y",
    "poly roots": "x[:5]",
    "polyadd polysub polymul polydiv": "x[:5], y[:3]",
    "polyder polyint": "x[:5]",
    "polyfit": "x[:1000], y[:1000], 2",
    "polyval": "x[:4], y",
    "power pow": ["x, y", "x, 2", "x, 3"],
    "put": "x.copy(), i, 1",
    "put_along_axis": "x.copy(), i, 1, 0",
    "ravel_multi_index": "(i, i), (n, n)",
    "repeat": "x, 2",
    "require": "x, None, 'C'",
    "reshape": "x, (1, -1)",
    "resize": "x, 2 * n",
    "result_type common_type": "x, y",
    "roll": "x, 1",
    "rollaxis": "m, 1",
    "save": "io.BytesIO(), x",
    "savetxt": "io.StringIO(), x[:1000]",
    "savez savez_compressed": "io.BytesIO(), x[:1000]",
    "select": "[mask, ~mask], [x, y]",
    "squeeze ravel transpose matrix_transpose permute_dims": "m",
    "swapaxes": "m, 0, 1",
    "take": ["x, i", "m, [0], 0"],
    "take_along_axis": "x, i, 0",
    "tensordot": "x, y, 1",
    "tile": "x, 2",
    "trapezoid": "x",
    "trim_zeros": "x",
    "triu_indices tril_indices": "side",
    "triu_indices_from tril_indices_from": "small",
    "typename": "'d'",
    "unpackbits": "x",
    "unravel_index": "i, (n, 1)",
    "vander": "x[:100]",
    "vecdot": ["x, y", "m, m"],
    "vecmat": "m[:, 0], m",
    "where": ["mask, x, y", "mask"],
    "linalg.cross": "threes, threes",
    "linalg.lstsq linalg.solve": "small, small[0]",
    "linalg.matrix_power": "small, 2",
    "linalg.multi_dot": "[small, small, small]",
    "linalg.outer": "x[:100], y[:100]",
    "linalg.tensordot": "x, y, 1",
    "linalg.tensorsolve": "small, small[0]",
    "linalg.tensorinv": "small, 1",
    "linalg.vecdot": "x, y",
    "linalg.norm linalg.vector_norm": ["x", "m, axis=1"],
    "linalg.cond linalg.det linalg.inv linalg.matrix_rank linalg.pinv linalg.qr linalg.slogdet linalg.svd linalg.svdvals": "small",
    "linalg.eig linalg.eigh linalg.eigvals linalg.eigvalsh linalg.cholesky linalg.matrix_norm linalg.matrix_transpose linalg.trace": "small",
    "linalg.matmul": "small, small",
    "linalg.test fft.test": None,
    "fft.fftfreq fft.rfftfreq": "n",
}
TABLE = {}
for names, texts in ROWS.items():
    for name in names.split():
        TABLE[name] = [texts] if isinstance(texts, str) else texts or []


def functions():
    """Names of what is called: of NumPy's namespace, linalg and fft."""
    found = {}
    for space in ("", "linalg.", "fft."):
        module = getattr(numpy, space[:-1]) if space else numpy
        for name, f in vars(module).items():
            if not name.startswith("_") and callable(f) and not isinstance(f, type | types.ModuleType):
                found[space + name] = f
    return sorted(found)


def rows_of(name):
    """Texts of its arguments."""
    if name in TABLE:
        return TABLE[name]
    f = getattr(numpy, name, None)
    if isinstance(f, numpy.ufunc) and f.nin == 2:
        return ["x, y", "x, 3"]
    if isinstance(f, numpy.ufunc):
        return ["x", "x[::2]"]
    is_setting = name.startswith("set") or any(part in name for part in ("err", "buf", "print"))
    return [] if is_setting else ["x"]


def arguments(np, dtype, n, folder):
    """Ordinary numbers that functions are defined for, the same whatever the module."""
    rng = numpy.random.default_rng(1)

    def draw(count, low=0.1, high=0.9):
        if dtype == "bool":
            return rng.random(count) < 0.5
        if dtype[0] in "iu":
            return rng.integers(1, 100 if high < 1 else 9, count).astype(dtype)
        x = rng.uniform(low, high, count)
        return (x + 1j * rng.uniform(low, high, count) if dtype[0] == "c" else x).astype(dtype)

    side = min(max(1, int(n**0.5)), 100)
    columns = 3 if n < 100 else 100
    x = draw(n)
    small = draw(side * side).reshape(side, side)
    small = small @ small.conj().T + side * numpy.eye(side, dtype=small.dtype) if dtype[0] in "fc" else small
    path, saved = os.path.join(folder, "raw"), os.path.join(folder, "saved.npy")
    x.tofile(path)
    numpy.save(saved, x)
    short = draw(min(n, 1000))
    arrays = {
        "x": x,
        "y": draw(n),
        "w": draw(n, 1.1, 9),
        "m": draw(max(1, n // columns) * columns).reshape(-1, columns),
        "few": draw(min(n, 300) // 3 * 3).reshape(-1, 3),
        "threes": draw(n // 3 * 3).reshape(-1, 3),
        "small": small.astype(dtype),
        "i": rng.integers(0, n, n),
        "mask": rng.random(n) < 0.5,
        "ordered": numpy.sort(draw(n).real),
        "days": (numpy.datetime64("2026-01-01") + rng.integers(0, 99, n)),
    }
    names = {name: np.asarray(a) for name, a in arrays.items()}
    names["pieces"] = [np.asarray(a) for a in numpy.array_split(x.reshape(-1), min(n, 3000))]
    return names | {"np": np, "n": n, "side": side, "io": io, "path": path, "saved": saved, "numbers": short.tolist(), "text": " ".join(map(str, short.real.astype(float)))}


def evaluate(result):
    """Computes what was only recorded."""
    if isinstance(result, plait.ndarray):
        plait.evaluate(result)
    elif isinstance(result, tuple | list) and result and isinstance(result[0], plait.ndarray):
        plait.evaluate(*result)


def seconds(run, at_least):
    calls, start = 0, time.perf_counter()
    while True:
        for _ in range(1 + calls):
            run()
        calls += 1 + calls
        spent = time.perf_counter() - start
        if spent >= at_least:
            return spent / calls


def measure(text, theirs, ours, rounds, at_least):
    """(NumPy's seconds, Plait's); None where NumPy does not take the arguments."""
    recorded = theirs["n"] > 1000  # less is computed at once
    code = compile(f"lambda: evaluate(np.{text})" if recorded else f"lambda: np.{text}", text, "eval")
    runs = [eval(code, names | {"evaluate": evaluate}) for names in (theirs, ours)]
    try:
        runs[0]()
    except Exception:
        return None
    for _ in range(3):  # code is compiled, in the background too
        runs[1]()
    best = [float("inf")] * 2
    for _ in range(rounds):
        for k, run in enumerate(runs):
            best[k] = min(best[k], seconds(run, at_least))
    return best


def sweep(args):
    known = functions()
    chosen = [name for name in known if not args.names or any(fnmatch.fnmatch(name, pattern) for pattern in args.names)]
    rows, covered = [], set()
    with tempfile.TemporaryDirectory() as folder:
        for n in args.sizes:
            for dtype in args.dtypes:
                theirs, ours = (arguments(np, dtype, n, folder) for np in (numpy, plait))
                for name in chosen:
                    for given in rows_of(name):
                        text = f"{name}({given})"
                        best = measure(text, theirs, ours, args.rounds, args.seconds)
                        if best:
                            covered.add(name)
                            rows.append((best[0] / best[1], best[1], f"{text}  {dtype} {n}"))
                            if args.verbose:
                                print(f"{rows[-1][0]:6.2f}  {best[1] * 1e6:9.1f} us  {rows[-1][2]}", flush=True)
    return rows, covered, [name for name in chosen if name not in covered]


def small(args):
    """Nanoseconds of statements, the least of many short runs, which other work on the machine disturbs little."""
    theirs, ours = statements.calls(numpy), statements.calls(plait)
    table = {}
    for name in [name for name in ours if not args.names or name in args.names]:
        best = [float("inf")] * 2
        for _ in range(20 if args.quick else 100):
            for k, run in enumerate((theirs[name], ours[name])):
                best[k] = min(best[k], seconds(run, 2e-4))
        table[name] = {"numpy": best[0] * 1e9, "plait": best[1] * 1e9}
        if not args.json:
            print(f"{name:24}{best[0] * 1e9:8.0f}{best[1] * 1e9:8.0f}{best[0] / best[1]:7.2f}", flush=True)
    if args.json:
        print(json.dumps(table))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="functions, or patterns of them; statements with --small; all")
    parser.add_argument("--dtypes", type=lambda s: s.split(","), default=DTYPES)
    parser.add_argument("--sizes", type=lambda s: [int(n) for n in s.split(",")], default=SIZES)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2e-4, help="that a round of a cell takes at least")
    parser.add_argument("--below", type=float, default=0.9, help="print what is slower than this share of NumPy's speed")
    parser.add_argument("--verbose", action="store_true", help="every cell as it is measured")
    parser.add_argument("--small", action="store_true", help="statements on small arrays")
    parser.add_argument("--json", action="store_true", help="with --small: one line, for run.py")
    parser.add_argument("--quick", action="store_true", help="with --small: 20 rounds instead of 100")
    args = parser.parse_args()
    if args.small:
        return small(args)
    with warnings.catch_warnings(), numpy.errstate(all="ignore"), plait.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        rows, covered, left = sweep(args)
    for ratio, ours, cell in sorted(rows):
        if ratio < args.below:
            print(f"{ratio:6.2f}  {ours * 1e6:9.1f} us  {cell}")
    if rows:
        print(f"{len(rows)} cells, below {args.below}: {sum(r[0] < args.below for r in rows)}, median {statistics.median(r[0] for r in rows):.2f}")
    print(f"{len(covered)} functions; without arguments: {', '.join(left) or 'none'}")


if __name__ == "__main__":
    main()
