"""Writes docs/cpp_names.md: for every name of NumPy and of xtensor what it is called in C++, or why it is not there. --check: whether the page is up to date."""

import pathlib
import re
import sys

import numpy
from cpp_headers import declarations

PAGE = pathlib.Path(__file__).resolve().parents[1] / "docs" / "cpp_names.md"


# What is called otherwise in C++, or spelled with several names.
NUMPY = {
    "append": "concatenate({a, b})", "insert": "concatenate({front, v, back})", "block": "vstack({hstack({a, b}), hstack({b, a})})", "apply_over_axes": "sum(a, {0, 1}, keep_dims)", "array2string": "to_string(a)", "array_str": "to_string(a)", "array_repr": "to_string(a)",
    "asanyarray": "array<double>(v)", "asarray": "array<double>(v)", "astype": "a.astype<float>()", "bitwise_invert": "invert(a)",
    "broadcast_arrays": "broadcast_to(a, shape)", "cumulative_prod": "cumprod(a)", "cumulative_sum": "cumsum(a)", "concat": "concatenate({a, b})",
    "ascontiguousarray": "a.copy()", "copy": "a.copy()", "copyto": "a.assign(b, mask)", "delete": "view(a, drop(1))", "diagflat": "diag(ravel(a))",
    "ediff1d": "diff(ravel(a))", "frombuffer": "adapt(pointer, shape)", "fromiter": "array<double>(first, last)", "fix": "trunc(a)", "ix_": "keep(0, 2)",
    "loadtxt": "load_csv<double>(path)", "savetxt": "dump_csv(path, a)", "save": "dump_npy(path, a)", "load": "load_npy<double>(path)", "matrix_transpose": "swapaxes(a, -1, -2)",
    "matvec": "matmul(a, v)", "vecmat": "matmul(v, a)", "ndim": "a.ndim()", "shape": "a.shape()", "size": "a.size()", "permute_dims": "transpose(a, axes)",
    "place": "filter(a, mask) = v", "putmask": "a.assign(v, mask)", "put": "view(ravel(a), k) = v", "promote_types": "promote_t<T, U>", "rollaxis": "moveaxis(a, i, j)", "row_stack": "vstack({a, b})",
    "shares_memory": "may_share_memory(a, b)", "std": "stddev(a)", "unique_values": "unique(a)", "unique_inverse": "unique_all(a).inverse", "unstack": "axis_begin(a)",
    "linalg.LinAlgError": "LinAlgError", "linalg.diagonal": "diagonal(a, 0, -2, -1)", "linalg.matrix_norm": "linalg::norm(a, 2, {-2, -1})", "linalg.vector_norm": "linalg::norm(a, 2, 0)",
    "linalg.matrix_transpose": "swapaxes(a, -1, -2)",
    "fft.rfftn": "fft::fftn(fft::rfft(a), axes)", "fft.irfftn": "fft::irfft(fft::ifftn(a, axes))",
    "ndarray.T": "transpose(a)", "ndarray.base": "may_share_memory(a, b)", "ndarray.ctypes": "a.data()", "ndarray.device": "device_of(a)", "ndarray.flags": "a.is_contiguous()", "ndarray.flat": "a.begin()", "ndarray.flatten": "ravel(a).copy()", "printoptions": "set_printoptions(options)",
    "ndarray.itemsize": "itemsize(a.dtype())", "ndarray.mT": "swapaxes(a, -1, -2)", "ndarray.nbytes": "a.size() * itemsize(a.dtype())", "ndarray.put": "view(ravel(a), k) = v",
    "ndarray.std": "stddev(a)", "ndarray.tofile": "dump_npy(path, a)", "ndarray.tobytes": "a.data()", "ndarray.tolist": "a.begin()",
    "random.Generator.permuted": "engine.shuffle(a)",
}
# Reasons, each with the names that it is for.
NUMPY_REASONS = {
    "of Python: its objects, functions and settings": "frompyfunc get_include getbufsize setbufsize geterrcall seterrcall info iterable isscalar nested_iters show_config show_runtime test"
    " from_dlpack require ndarray.dump ndarray.dumps linalg.test fft.test random.Generator.bit_generator",
    "of matrices, which NumPy advises against": "asmatrix bmat",
    "of dates, which arrays do not hold": "busday_count busday_offset is_busday datetime_as_string datetime_data isnat",
    "of dtypes: C++ has them when it compiles, `dtype_of_v`, `promote_t`, `is_element_v`": "common_type isdtype issubdtype min_scalar_type mintypecode typename",
    "of text: `std::ifstream`, `printf` and `load_csv` read and write it": "base_repr binary_repr format_float_positional format_float_scientific fromregex fromstring genfromtxt fromfile",
    "of floating-point errors: there is one way": "geterr seterr",
    "of memory layouts: arrays that are made are in C order": "asfortranarray isfortran",
    "the dtype would depend on the values": "real_if_close",
    "checks alone: `isfinite` and `all`, or `array_equal`, do it": "asarray_chkfinite array_equiv",
    "of bytes of other machines, or fields, which arrays do not have": "ndarray.byteswap ndarray.getfield ndarray.setfield ndarray.setflags",
    "of functions that make masks: `nonzero` of what they give": "mask_indices",
    "`einsum` takes operands two at a time, in the order in which they are written": "einsum_path",
    "compression is not in the library": "savez_compressed",
}
# xtensor 0.25's functions and classes, by the pages of its reference.
XTENSOR_NAMES = {
    "Containers and views": "xarray xtensor xtensor_fixed xarray_adaptor adapt adapt_smart_ptr xview view row col strided_view dynamic_view index_view filter filtration masked_view offset_view"
    " all range keep drop newaxis ellipsis noalias eval broadcast xaxis_iterator axis_begin axis_end axis_slice_begin axis_slice_end chunked_array",
    "Building": "empty empty_like zeros zeros_like ones ones_like full_like eye arange linspace logspace concatenate stack hstack vstack xtuple meshgrid diag tril triu diagonal",
    "Shapes": "atleast_1d atleast_2d atleast_3d expand_dims flatten flatnonzero flip hsplit ravel reshape_view repeat roll rot90 split squeeze swapaxes moveaxis transpose trim_zeros vsplit tile pad"
    " flatten_indices ravel_indices unravel_index ravel_index",
    "Operators and functions": "equal not_equal less less_equal greater greater_equal left_shift right_shift cast where any all nonzero argwhere from_indices abs fabs fmod remainder fma maximum minimum fmax fmin fdim"
    " clip sign exp exp2 expm1 log log10 log2 log1p pow square cube sqrt cbrt hypot sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh erf erfc tgamma lgamma ceil floor trunc round nearbyint rint"
    " isfinite isinf isnan isclose allclose angle arg conj norm real imag deg2rad rad2deg degrees radians nan_to_num vectorize accumulate reduce",
    "Reductions": "sum prod mean average variance stddev amin amax minmax median argmin argmax count_nonzero count_nonnan cumsum cumprod diff trapz cov"
    " nansum nanprod nanmin nanmax nanmean nanvar nanstd nancumsum nancumprod norm_l0 norm_l1 norm_sq norm_l2 norm_linf norm_lp norm_lp_to_p norm_induced_l1 norm_induced_linf",
    "Sorting, sets, bins": "sort argsort partition argpartition unique setdiff1d in1d isin searchsorted bincount digitize histogram histogram_bin_edges bin_items interp convolve quantile",
    "Random numbers": "seed rand randint randn binomial geometric negative_binomial poisson exponential gamma weibull extreme_value lognormal cauchy fisher_f student_t chi_squared permutation shuffle choice",
    "Files and text": "load_csv dump_csv load_npy dump_npy load_npz dump_npz from_json to_json print_options set_precision set_line_width set_threshold set_edge_items",
}
XTENSOR = {
    "xarray": "array<double>", "xtensor": "array<double>", "xtensor_fixed": "array<double>", "xarray_adaptor": "adapt(pointer, shape)", "xview": "array_view<double>", "strided_view": "view(a, ellipsis(), 0)",
    "dynamic_view": "view(a, ellipsis(), 0)", "filtration": "filter(a, m) = 0", "adapt_smart_ptr": "adapt(pointer, shape, deleter)", "noalias": "expr.eval_into(a)", "broadcast": "broadcast_to(a, shape)",
    "xaxis_iterator": "axis_iterator<double>", "xtuple": "concatenate({a, b})", "flatten": "ravel(a)", "reshape_view": "reshape(a, shape)", "flatten_indices": "flatnonzero(a)", "ravel_indices": "ravel_multi_index({i, j}, shape)",
    "ravel_index": "ravel_multi_index({i, j}, shape)", "from_indices": "stack({i, j})", "cube": "power(a, 3)", "arg": "angle(z)", "norm": "norm_sq(z)", "count_nonnan": "sum(!isnan(a))", "reduce": "accumulate(ufunc::add, a)",
    "bin_items": "histogram(a, 10).edges", "dump_npz": "savez(path, a)", "print_options": "to_string(a)", "full_like": "full_like(a, 7)",
    "set_precision": "set_printoptions(options)", "set_line_width": "set_printoptions(options)", "set_threshold": "set_printoptions(options)", "set_edge_items": "set_printoptions(options)",
    "seed": "random::seed(7)", "rand": "random::rand(shape)", "randint": "random::randint(shape, 0, 9)", "randn": "random::randn(shape)", "geometric": "engine.geometric", "negative_binomial": "engine.negative_binomial",
    "poisson": "engine.poisson", "exponential": "engine.exponential", "gamma": "engine.gamma", "weibull": "engine.weibull", "extreme_value": "engine.gumbel", "lognormal": "engine.lognormal", "cauchy": "engine.standard_cauchy",
    "fisher_f": "engine.f", "student_t": "engine.standard_t", "chi_squared": "engine.chisquare", "permutation": "engine.permutation", "shuffle": "engine.shuffle", "choice": "engine.choice",
}
XTENSOR_REASONS = {
    "indices from 0 on alone": "offset_view",
    "slices of several axes are views": "axis_slice_begin axis_slice_end",
    "arrays are in one piece of memory": "chunked_array",
    "not written yet": "binomial cauchy",
    "of other formats": "from_json to_json",
}


def declared():
    """Names that the public headers declare, as a program spells them behind plait::, and members as Class.name."""
    found = declarations()
    classes = {d.path for d in found if d.kind == "class"}
    return {f"{d.scope.rpartition('::')[2]}.{d.name}" if d.scope in classes else d.path for d in found}


def reasons(table):
    return {name: why for why, names in table.items() for name in names.split()}


def public(owner, path=""):
    """NumPy's functions there, and what is called like one."""
    called_like_functions = ("mgrid", "ogrid", "vectorize", "newaxis", "LinAlgError")
    return [path + n for n in dir(owner) if not n.startswith("_") and (n in called_like_functions or (callable(f := getattr(owner, n)) and not isinstance(f, type)))]


def numpy_names():
    sections = {"Functions": public(numpy), "Linear algebra": public(numpy.linalg, "linalg."), "Fourier transforms": public(numpy.fft, "fft.")}
    sections["Methods and attributes of arrays"] = [f"ndarray.{n}" for n in dir(numpy.ndarray) if not n.startswith("_")]
    sections["Methods of generators"] = [f"random.Generator.{n}" for n in dir(numpy.random.Generator) if not n.startswith("_")]
    return sections


def spelled(name, known, others):
    """What a name is in C++; nothing where it is not there."""
    if name in others:
        code = others[name]
        first = re.search(r"engine\.\w+|[A-Za-z_][\w:]+", code.removeprefix("a.").removeprefix("expr."))[0]
        return code if first in known or f"array.{first}" in known else None
    owner, _, last = name.rpartition(".")
    if owner == "ndarray":
        return f"a.{last}()" if f"array.{last}" in known else f"{last}(a)" if last in known else None
    if owner == "random.Generator":
        return f"engine.{last}" if f"engine.{last}" in known else None
    path = name.replace(".", "::")
    return path if path in known else None


def table(names, known, others, why):
    """Rows of names, and those that have neither a spelling nor a reason."""
    rows, lost = [], []
    for name in names:
        code, reason = spelled(name, known, others), why.get(name)
        if not code and not reason:
            lost.append(name)
        rows.append(f"| `{name}` | `{code}` |" if code else f"| `{name}` | not there: {reason} |")
    return rows, lost


def page():
    """The page, and the names that nobody has decided on."""
    known, lost = declared(), []
    text = [
        "# Names in C++",
        "Written by `python scripts/cpp_names.py` from the headers: every function of NumPy 2.4 and of xtensor 0.25, and what it is called in C++, behind `plait::`,\n"
        "or why it is not there. [C++](cpp.md) shows how they are called. `a` and `b` are arrays, `engine` a `random::engine`.",
    ]
    for title, sections, others, why in (
        ("NumPy", numpy_names(), NUMPY, NUMPY_REASONS),
        ("xtensor", {k: v.split() for k, v in XTENSOR_NAMES.items()}, XTENSOR, XTENSOR_REASONS),
    ):
        text.append(f"## {title}")
        for section, names in sections.items():
            rows, missing = table(names, known, others, reasons(why))
            lost += missing
            there = sum("| not there" not in row for row in rows)
            text += [f"### {section} of {title}", f"{there} of {len(rows)} are there, under this name or in other words.", f"| {title} | Plait |\n| --- | --- |\n" + "\n".join(rows)]
    text += ["## Polynomial classes", "`numpy.polynomial` is not there: its classes are objects of Python. `polyfit`, `polyval`, `roots` and their kin are."]
    return "\n\n".join(text) + "\n", lost


if __name__ == "__main__":
    text, lost = page()
    if lost:
        sys.exit(f"neither a C++ name nor a reason: {' '.join(lost)}")
    if "--check" not in sys.argv:
        PAGE.write_text(text, encoding="utf-8")
        sys.stdout.write(f"wrote {PAGE}\n")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
        sys.exit(f"{PAGE} is stale: python scripts/cpp_names.py writes it")
