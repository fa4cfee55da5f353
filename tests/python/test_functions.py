"""Functions that go another way with few elements, and loops over bits: NumPy's values, dtypes, warnings and aliases."""

import sys
import warnings
from pathlib import Path

import numpy
import pytest

import plait

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

CODES = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "?"]


def both(f, *arrays):
    """What NumPy and Plait give, with their warnings."""
    made = []
    for np, given in ((numpy, [a.copy() for a in arrays]), (plait, [plait.array(a) for a in arrays])):
        with warnings.catch_warnings(record=True) as raised:
            warnings.simplefilter("always")
            result = f(np, *given)
        result = [numpy.asarray(r) for r in (result if isinstance(result, tuple) else (result,))]
        made.append((result, [numpy.asarray(a) for a in given], sorted(str(w.message) for w in raised)))
    return made


def same(f, *arrays):
    (want, after, told), (got, ours, said) = both(f, *arrays)
    for x, y in zip(want + after, got + ours, strict=True):
        assert x.dtype == y.dtype and x.shape == y.shape, (x, y)
        assert x.tobytes() == y.tobytes(), (x, y)
    assert told == said


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("n", [1, 5, 700])
def test_products_of_vectors(code, n):
    rng = numpy.random.default_rng(n)
    a, b = (rng.integers(0, 2 if code in "f2?" else 120, 2 * n).astype(code) for _ in range(2))
    m = rng.integers(0, 2 if code in "f2?" else 120, (3, n)).astype(code)
    x, y = a[:n], b[:n]
    for f in (lambda np, x, y: np.dot(x, y), lambda np, x, y: x @ y, lambda np, x, y: np.inner(x, y), lambda np, x, y: np.vdot(x, y),
              lambda np, x, y: np.tensordot(x, y, 1), lambda np, x, y: np.einsum("i,i", x, y), lambda np, x, y: np.dot(x[::-1], y)):  # fmt: skip
        same(f, x, y)
    same(lambda np, a, b: np.dot(a[::2], b[::2]), a, b)
    same(lambda np, m, x: m @ x, m, x)
    same(lambda np, m, x: x @ m.T, m, x)
    same(lambda np, m, x: m.T.copy().T @ x, m, x)
    same(lambda np, m, x: np.matmul(m[:, None, :], x[:, None]), m, x)


def test_a_product_of_halves_overflows():
    same(lambda np, x: np.dot(x, x), numpy.full(3, 60000, "f2"))


@pytest.mark.parametrize("code", "efd")
def test_spacing_and_frexp(code):
    info = numpy.finfo(code)
    rare = [0, 1, 1.5, 3, info.tiny, info.tiny / 2, info.smallest_subnormal, info.max, numpy.inf, numpy.nan, 2.0**-14, 1024, 0.75]
    for value in rare:
        for sign in (1, -1):
            x = numpy.full(200, value, code) * numpy.array(sign, code)
            same(lambda np, x: np.spacing(x), x)
            same(lambda np, x: np.frexp(x), x)
            same(lambda np, x: np.frexp(x[:3]), x)
    if code == "e":
        with numpy.errstate(all="ignore"), plait.errstate(all="ignore"):
            same(lambda np, x: np.spacing(x), numpy.arange(1 << 16, dtype="u2").view("e"))


@pytest.mark.parametrize("code", ["u1", "i1", "?"])
@pytest.mark.parametrize("n", [3, 63, 64, 5000])
def test_stable_order_of_bytes(code, n):
    x = numpy.random.default_rng(n).integers(0, 256, (3, n)).astype("u1").astype(code)
    same(lambda np, x: np.argsort(x[0], kind="stable"), x)
    same(lambda np, x: np.argsort(x, 0, kind="stable"), x)
    same(lambda np, x: np.lexsort((x[0], x[1])), x)


@pytest.mark.parametrize("code", CODES[:-2])
def test_division_by_one_number(code):
    """Also where machine code divides a few lanes at a time."""
    x = numpy.random.default_rng(2).integers(0, 100, 300).astype(code)
    for by in (7, 3, 1, 2, 100):
        for f in (lambda np, x: x // by, lambda np, x: x % by, lambda np, x: np.fmod(x, by), lambda np, x: (x + 1) // by * 2 + x % by):
            same(f, x)
    if code[0] == "i":
        same(lambda np, x: (x - 50) // -7 + (x - 50) % -3, x)


FEW = {
    "argsort": lambda np, x, i, m: np.argsort(x),
    "lexsort": lambda np, x, i, m: np.lexsort((x, x)),
    "count_nonzero": lambda np, x, i, m: np.count_nonzero(m),
    "put": lambda np, x, i, m: np.put(x, i, 1),
    "put of a view": lambda np, x, i, m: np.put(x[::2], [1], 5),
    "putmask": lambda np, x, i, m: np.putmask(x, m, x),
    "place": lambda np, x, i, m: np.place(x, m, [7, 8]),
    "copyto": lambda np, x, i, m: np.copyto(x, 3),
    "choose": lambda np, x, i, m: np.choose(m.astype(int), [x, x + 1]),
    "unravel_index": lambda np, x, i, m: np.unravel_index(i, (3, 3)),
    "ravel_multi_index": lambda np, x, i, m: np.ravel_multi_index((i, i), (3, 3)),
    "fromiter": lambda np, x, i, m: np.fromiter([1, 2, 3], float),
    "frexp": lambda np, x, i, m: np.frexp(x),
    "modf": lambda np, x, i, m: np.modf(x),
    "ldexp": lambda np, x, i, m: np.ldexp(x, 3),
    "divmod": lambda np, x, i, m: np.divmod(x, 2),
    "divmod by zero": lambda np, x, i, m: np.divmod(i, 0),
    "matvec": lambda np, x, i, m: np.matvec(np.outer(x, x), x),
    "result_type": lambda np, x, i, m: np.zeros(1, np.result_type(x, i)),
    "einsum": lambda np, x, i, m: np.einsum("i,i", x, x),
    "searchsorted": lambda np, x, i, m: np.searchsorted(np.sort(x), x),
    "isfortran": lambda np, x, i, m: np.array(np.isfortran(np.outer(x, x).T)),
    "days": lambda np, x, i, m: np.array(["2026-01-01", "2026-01-03"], "M8[D]") - np.array("2026-01-02", "M8[D]"),
    "names": lambda np, x, i, m: np.array(["a", "b"]) == "b",
}


@pytest.mark.parametrize("name", FEW)
def test_few_elements(name):
    rng = numpy.random.default_rng(3)
    f = FEW[name]
    same(lambda np, x, i, m: r if (r := f(np, x, i, m)) is not None else x, rng.random(5), rng.integers(0, 3, 5), rng.random(5) < 0.5)


def test_few_elements_are_plaits_arrays():
    x = plait.array([3.0, 1.0])
    for made in (plait.argsort(x), plait.frexp(x)[0], plait.fromiter([1, 2], int), plait.ascontiguousarray([1.0, 2.0])):
        assert type(made) is plait.ndarray
    assert plait.ascontiguousarray(x) is x and plait.asanyarray(x) is x
    view = plait.einsum("ii->i", m := plait.zeros((2, 2)))
    view[:] = 5
    assert m.tolist() == [[5, 0], [0, 5]]


def test_sweep_has_arguments(monkeypatch, capsys):
    """benchmarks/functions.py measures what it says."""
    import functions

    monkeypatch.setattr(sys, "argv", ["functions.py", "sort", "add", "get_include", "--sizes", "3", "--dtypes", "int64", "--below", "1e9", "--rounds", "1"])
    functions.main()
    printed = capsys.readouterr().out
    assert "sort(x)  int64 3" in printed and "add(x, y)  int64 3" in printed and "without arguments: get_include" in printed
    monkeypatch.setattr(sys, "argv", ["functions.py", "x + y", "--small", "--json", "--quick"])
    functions.main()
    assert '{"x + y": {"numpy": ' in capsys.readouterr().out
