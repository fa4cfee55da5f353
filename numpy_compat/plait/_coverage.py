"""Which of NumPy's public functions run without the fallback, and which can be part of a region: found by calling each."""

import contextlib
import io
import os
import tempfile
import types
import warnings

import numpy

from . import _caught, _plait
from ._boundary import leaves
from ._fallback import fallback_notes
from ._plait import lazy_scalar, ndarray

REGION, ENGINE, NUMPYS, FALLBACK = "region", "engine", "numpy", "fallback"

# Arguments -> functions that are called with them. a, b: matrices of floats, v, w: vectors, s: a square matrix, i, j: integers, m: a mask,
# z: complex numbers, t: ascending numbers; of some N = R * R elements, and pending. p: a path that does not exist, q: one of a file of numbers.
_SAMPLES = {
    "a": """
        abs absolute acos acosh angle arccos arccosh arcsin arcsinh arctan arctanh argsort argwhere around array array2string array_repr
        array_str asanyarray asarray asarray_chkfinite ascontiguousarray asfortranarray asin asinh asmatrix atan atanh atleast_1d
        atleast_2d atleast_3d cbrt ceil conj conjugate copy corrcoef cos cosh cov deg2rad degrees diag diag_indices_from diagonal diff
        ediff1d empty_like exp exp2 expm1 fabs fix flatnonzero flip fliplr flipud floor frexp gradient histogram
        histogram_bin_edges i0 imag iscomplex iscomplexobj isfinite isfortran isinf isnan isneginf isposinf isreal isrealobj isscalar
        iterable log log10 log1p log2 logical_not matrix_transpose min_scalar_type modf nan_to_num ndim negative nonzero ones_like
        positive rad2deg radians ravel real real_if_close reciprocal require result_type rint rot90 round shape sign signbit sin sinc
        sinh size sort sort_complex spacing sqrt square squeeze tan tanh transpose trapezoid tril tril_indices_from trim_zeros triu
        triu_indices_from trunc unique unique_all unique_counts unique_inverse unique_values unstack unwrap zeros_like""",
    "a, b": """
        add allclose common_type arctan2 atan2 array_equal array_equiv broadcast_arrays copysign copyto divide divmod equal extract float_power
        floor_divide fmax fmin fmod greater greater_equal heaviside hypot isclose less less_equal logaddexp logaddexp2 logical_and logical_or
        logical_xor maximum may_share_memory minimum mod multiply nextafter not_equal pow power remainder shares_memory subtract
        true_divide vecdot dot matmul inner""",
    "a[:, :3], b[:, :3]": "cross",
    "v[:R], w[:R]": "kron meshgrid outer",
    "v[:R]": "diagflat",
    "v, w": "histogram2d polyadd polysub intersect1d isin setdiff1d setxor1d union1d vdot",
    "a, 2": "hsplit vsplit array_split split repeat roll tile ldexp partition argpartition delete",
    "[a, b]": "block",
    "(a, b)": "column_stack concat concatenate dstack hstack row_stack stack vstack",
    "a, 0": """
        all amax amin any argmax argmin average count_nonzero cumprod cumsum expand_dims max mean median min nanargmax nanargmin
        nancumprod nancumsum nanmax nanmean nanmedian nanmin nanprod nanstd nansum nanvar prod ptp rollaxis std sum var""",
    "v, i": "take",
    "(v, w)": "lexsort",
    "v[:16]": "poly roots",
    "v[:16], v[16:24]": "polydiv",
    "v, 3": "vander",
    "v, w[:16]": "convolve correlate polymul",
    "v[:16], w": "polyval",
    "t, w, 3": "polyfit",
    "v": "cumulative_prod cumulative_sum polyder polyint",
    "v, t": "digitize",
    "w, t, v": "interp",
    "t, v": "searchsorted",
    "i, j": """
        bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor gcd lcm left_shift right_shift""",
    "i": "bincount bitwise_count bitwise_invert bitwise_not invert ix_",
    "k": "packbits unpackbits",
    "N": "arange bartlett blackman diag_indices empty hamming hanning ones zeros",
    "R": "eye identity tri tril_indices triu_indices base_repr binary_repr",
    "N, 14.0": "kaiser",
    "1, 9, N": "linspace logspace geomspace",
    "(R, R)": "indices broadcast_shapes",
    "(R, R), 1.5": "full",
    "a, 1.5": "full_like",
    "m, a, b": "where",
    "a, m, b": "putmask",
    "a, m, v": "place",
    "m[0], a": "compress",
    "a, i, v": "put",
    "a, n, 1": "take_along_axis",
    "a, n, b, 1": "put_along_axis",
    "a, 0.3, 0.7": "clip",
    "a, 1.0": "append fill_diagonal",
    "a, 3, 1.0": "insert",
    "n, (a, b)": "choose",
    "[m, ~m], [a, b]": "select",
    "v, [v < 0.3, v >= 0.3], [-1.0, lambda x: x * 2]": "piecewise",
    "lambda x: x.sum(), 0, a": "apply_along_axis",
    "plait.sum, a, [0, 1]": "apply_over_axes",
    "lambda x, y: x + y, (R, R)": "fromfunction",
    "lambda x: x, 1, 1": "frompyfunc",
    "'ij,jk->ik', s, s": "einsum einsum_path",
    "s, s": "tensordot",
    "s, v[:R // 4]": "matvec",
    "v[:R // 4], s": "vecmat",
    "s": "trace",
    "a, 0.5": "quantile nanquantile",
    "a, 50": "percentile nanpercentile",
    "a, (2 * R, R // 2)": "reshape resize",
    "v, (4, N)": "broadcast_to",
    "a, (1, 0)": "permute_dims",
    "a, 0, 1": "moveaxis swapaxes",
    "a, 1": "pad",
    "a[:, :, None], 1": "dsplit",
    "a, 'f4'": "astype",
    "np.stack([v, w], 1)": "histogramdd",
    "(i, j), (64, 64)": "ravel_multi_index",
    "i, (8, 8)": "unravel_index",
    "R, plait.triu": "mask_indices",
    "[[a, b]]": "bmat",
    "a, plait.float32": "can_cast",
    "'f4', 'f8'": "promote_types",
    "plait.float32, plait.floating": "issubdtype",
    "plait.dtype('f4'), 'real floating'": "isdtype",
    "'f'": "typename",
    "'df'": "mintypecode",
    "1.5": "format_float_positional format_float_scientific",
    "np.zeros(N, 'M8[D]')": "isnat datetime_as_string is_busday",
    "np.zeros(N, 'M8[D]') + 4, 1": "busday_offset",
    "np.zeros(N, 'M8[D]'), np.zeros(N, 'M8[D]')": "busday_count",
    "'M8[D]'": "datetime_data",
    "b'12345678' * N": "frombuffer",
    "range(N), float": "fromiter",
    "'1 2 3', float, 3, ' '": "fromstring",
    "q, float, -1, ' '": "fromfile",
    "q": "loadtxt genfromtxt",
    "q, '([0-9.]+)', [('x', float)]": "fromregex",
    "n_": "load",
    "p, a": "save savez savez_compressed",
    "p, a[:4]": "savetxt",
    "[a, b], [[0], [1]]": "nested_iters",
    "a, ": "from_dlpack",
    "8192": "setbufsize",
    "": "get_include get_printoptions getbufsize geterr geterrcall printoptions set_printoptions show_config show_runtime",
    "None": "seterrcall",
    "'sum'": "info",
}  # fmt: skip
_ALONE = {"seterr": "", "test": None}  # None: runs NumPy's own tests
_SUBMODULES = {
    "linalg": {
        "s": "cond det eig eigh eigvals eigvalsh inv matrix_rank pinv qr slogdet svd svdvals diagonal trace matrix_transpose matrix_norm",
        "s @ s.T + R * np.eye(R // 4)": "cholesky",
        "a": "norm vector_norm",
        "s, v[:R // 4]": "solve",
        "s, 3": "matrix_power",
        "a[:, :64], v[:R]": "lstsq",
        "s, s": "matmul tensordot",
        "[s, s, s]": "multi_dot",
        "v[:R], w[:R]": "outer",
        "v[:3], w[:3]": "cross",
        "a, b": "vecdot",
        "np.eye(256).reshape(16, 16, 16, 16)": "tensorinv",
        "np.eye(256).reshape(16, 16, 16, 16), s[:16, :16]": "tensorsolve",
    },
    "fft": {
        "a": "fft ifft rfft irfft fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn hfft ihfft fftshift ifftshift",
        "N": "fftfreq rfftfreq",
    },
    "random.Generator": {
        "size=65536": """random standard_normal standard_exponential normal uniform exponential standard_cauchy laplace logistic gumbel lognormal
            rayleigh""",
        "100, size=65536": "integers",
        "v, 100": "choice",
        "v": "shuffle permutation permuted",
        "2.0, size=65536": "standard_gamma gamma poisson chisquare standard_t power pareto weibull",
        "2.0, 3.0, size=65536": "beta",
        "10, 0.5, size=65536": "binomial",
        "0.5, size=65536": "geometric",
        "32": "bytes",
        "[1.0, 2.0], 32768": "dirichlet",
        "20, [0.2, 0.8], 32768": "multinomial",
        "[0.0, 0.0], np.eye(2), 32768": "multivariate_normal",
    },
}  # fmt: skip


class _Called:
    """Fresh arguments for a call, matrices of `side` rows among them, which is watched; what became of it."""

    def __init__(self, folder, side):
        self.folder, self.side = folder, side

    def arguments(self, text):
        import plait as np

        # Pending: what stands before the function in a program.
        rows, n = self.side, self.side**2
        ramp = (np.arange(float(n)) * 0.618 % 1) * 0.9 + 0.05
        i = (np.arange(n) * 31) % 61
        scope = {
            "np": np, "plait": np, "v": ramp + 0.0, "w": ramp[::-1] * 0.9, "a": ramp.reshape(rows, rows) * 1.0,
            "b": ramp.reshape(rows, rows).T * 0.5, "s": ramp[: n // 16].reshape(rows // 4, rows // 4) + np.eye(rows // 4), "i": i + 1, "j": i // 4,
            "k": (i + 1).astype("u1"), "m": ramp.reshape(rows, rows) > 0.5, "n": i.reshape(rows, rows) % 2, "t": np.arange(float(n)) / n, "N": n, "R": rows, "p": os.path.join(self.folder, "out"),
            "q": os.path.join(self.folder, "numbers"), "n_": os.path.join(self.folder, "numbers.npy"), "_call": lambda *a, **k: (a, k),
        }  # fmt: skip
        return eval(f"_call({text})", scope)  # noqa: S307

    def __call__(self, function, text):
        args, kwargs = self.arguments(text)
        with fallback_notes(), contextlib.redirect_stdout(io.StringIO()):
            _plait.watch({})
            try:
                result = function(*args, **kwargs)
            finally:
                happened = {kind for kind, *_ in _plait.watched(lambda site: ("", "", ""))}
        made = [] if isinstance(result, type) else [x for x in leaves(result, [], namespaces=True) if type(x) in (ndarray, lazy_scalar)]
        written = [args[0]] if result is None and args and type(args[0]) is ndarray else []
        if not made and not written and not any(isinstance(x, ndarray) for x in leaves((args, tuple(kwargs.values())), [])):
            return NUMPYS
        if "note" in happened:
            return FALLBACK
        if "evaluation" not in happened and self.in_region(tuple(made or written)):
            return REGION
        return ENGINE

    def in_region(self, arrays):
        from ._explain import of_arrays

        text = of_arrays(arrays, "", False, {})
        return text != "nothing to compute\n" and "region" in text and "by the library call" not in text


def samples():
    """(name, function, text of its arguments) of each function; names of submodules have their module's in front."""
    import plait

    for module, rows in {"": _SAMPLES, **_SUBMODULES}.items():
        space = plait.random.default_rng(0) if module == "random.Generator" else getattr(plait, module) if module else plait
        for text, names in rows.items():
            yield from ((f"{module}.{n}" if module else n, getattr(space, n), text) for n in names.split() if hasattr(space, n))


@contextlib.contextmanager
def caller(side=512):
    """A _Called whose files are there; nothing is too small to be recorded meanwhile, and no warning is shown."""
    import plait

    limit = plait.config.eager_limit
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        numpy.savetxt(os.path.join(folder, "numbers"), numpy.ones((64, 4)))
        numpy.save(os.path.join(folder, "numbers.npy"), numpy.ones((64, 4)))
        plait.config.eager_limit = 0
        try:
            yield _Called(folder, side)
        finally:
            plait.config.eager_limit = limit


def coverage():
    """What becomes of each public function of NumPy's, called with pending arrays of 262144 elements: a dict by name.

    "region": what it computes is recorded and becomes part of a region; "engine": it runs without NumPy's function; "numpy": NumPy's own
    function that takes no arrays, so that none leaves the engine; "fallback": NumPy computes it. Names of submodules have their module's
    in front, as "linalg.solve".
    """
    import plait

    before, errors, buffer, handler = numpy.get_printoptions(), numpy.geterr(), numpy.getbufsize(), numpy.geterrcall()
    with caller() as called, _caught.uncaught():
        try:
            found = {name: called(function, text) for name, function, text in samples()}
            found |= {name: called(getattr(plait, name), text) for name, text in _ALONE.items() if text is not None}
            found["test"] = NUMPYS
        finally:
            numpy.set_printoptions(**before)
            plait.seterr(**errors)
            plait.seterrcall(handler)
            plait.setbufsize(buffer)
    return dict(sorted(found.items()))


def functions():
    """The names of NumPy's public functions, ufuncs among them."""
    return sorted(n for n in numpy.__all__ if callable(getattr(numpy, n)) and not isinstance(getattr(numpy, n), (type, types.ModuleType)))


_HEADINGS = {
    REGION: "Part of a region",
    ENGINE: "By the engine, between regions or at the call; transforms, factorisations, partitions and random draws by NumPy's loops in the engine's memory",
    NUMPYS: "No arrays: NumPy's own function",
    FALLBACK: "By the fallback",
}


def counts(found):
    """How many of NumPy's public functions there are, run without the fallback, can be part of a region, and take no arrays."""
    own = [found[name] for name in functions()]
    return len(own), sum(how != FALLBACK for how in own), sum(how == REGION for how in own), sum(how == NUMPYS for how in own)


def page(found):
    """docs/coverage.md."""
    total, native, fused, none = counts(found)
    lines = [
        "# What is native",
        "",
        "Written by `python scripts/coverage.py`, which calls every public function of NumPy's with pending arrays of 262144 elements and looks at",
        "what happens (`plait.coverage()`). Small arrays, dtypes and options that the engine does not take go to NumPy, here as there;",
        "`PLAIT_LOG=fallback` shows each.",
        "",
        f"Of NumPy's {total} functions, {native} run without the fallback ({none} of them take no arrays), and {fused} can be part of a region.",
    ]
    for module in ("", *_SUBMODULES):
        names = {n: h for n, h in found.items() if n.rpartition(".")[0] == module}
        lines += ["", f"## numpy{'.' if module else ''}{module}"]
        for how, heading in _HEADINGS.items():
            of = sorted(n.rpartition(".")[2] for n, h in names.items() if h == how)
            if of:
                lines += ["", f"**{heading}** ({len(of)}): {', '.join(f'`{n}`' for n in of)}"]
    return "\n".join(lines) + "\n"
