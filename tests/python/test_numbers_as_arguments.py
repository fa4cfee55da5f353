"""Numbers of every kind as arguments: which dtype they take, what they are checked against, and what NumPy says of them."""

import itertools
import operator
import warnings

import numpy
import pytest

import plait

PYTHONS = {"3": 3, "-2": -2, "300": 300, "2**62": 2**62, "2**64": 2**64, "2.5": 2.5, "1e39": 1e39, "1e308": 1e308, "-1e308": -1e308, "nan": float("nan"),
           "1j": 1j, "True": True}  # fmt: skip
NUMPYS = {f"{code}({value})": numpy.dtype(code).type(value) for code, value in
          [("b", -1), ("B", 200), ("l", 300), ("l", -1), ("L", 2**64 - 1), ("e", 2.5), ("f", 1.5), ("d", 1.5), ("d", 1e39), ("F", 2), ("D", 1j), ("?", 1)]}  # fmt: skip
ZERO_D = {f"array({value}, {code})": (code, value) for code, value in [("l", 300), ("f", 1.5), ("d", -1.5), ("D", 1j)]}
NUMBERS = PYTHONS | NUMPYS | ZERO_D
LISTS = {"[300, 1]": [300, 1], "[-1.5, 1]": [-1.5, 1.0], "[2**64, 1]": [2**64, 1], "[True, 3]": [True, 3], "(300,)": ((300,),), "[int64(300), 1]": [numpy.int64(300), 1]}
DTYPES = "?bBlLefdF"


def given(np, x):
    """A tuple stands for a 0-D array, or holds a tuple."""
    if type(x) is not tuple:
        return x
    return x[0] if len(x) == 1 else np.array(x[1], x[0])


def described(x):
    if type(x) in (tuple, list):
        return type(x).__name__, [described(v) for v in x]
    x = plait._fallback.to_numpy(x)
    return type(x).__name__, str(getattr(x, "dtype", "")), getattr(x, "shape", None), repr(x.tolist() if isinstance(x, numpy.ndarray | numpy.generic) else x)


def outcome(np, case):
    """What comes out, or is raised, and which warnings there are."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = described(case(np))
        except Exception as e:  # noqa: BLE001
            result = type(e), str(e)
    return result, {(w.category.__name__, str(w.message)) for w in caught}


def differing(cases):
    """Of the cases, by their names: (Plait's outcome, NumPy's), where they are not the same."""
    found = {name: (outcome(plait, case), outcome(numpy, case)) for name, case in cases}
    assert found
    return {name: pair for name, pair in found.items() if pair[0] != pair[1]}


# --- ranges -----------------------------------------------------------------------------------------------------------


def test_linspace():
    cases = [(f"{a}, {b}", lambda np, x=x, y=y: np.linspace(given(np, x), given(np, y), 3)) for (a, x), (b, y) in itertools.product(NUMBERS.items(), repeat=2)]
    cases += [(f"{a}, {options}", lambda np, x=x, options=options: np.linspace(given(np, x), 7.5, 3, retstep=True, **options))
              for a, x in NUMBERS.items() for options in ({"dtype": "f"}, {"dtype": "B"}, {"endpoint": False}, {"axis": -1})]  # fmt: skip
    cases += [(f"of {n}", lambda np, n=n: np.linspace(3, 5, n, retstep=True)) for n in (0, 1)]
    cases += [("inf", lambda np: np.linspace(0, float("inf"), 3)), ("None", lambda np: np.linspace(numpy.int64(1), None, 3))]
    assert not differing(cases)


ARANGES = [(-3, 2), (250, 260), (300, 301), (-1, 0), (-5, -300, -100), (0, 2**40, 2**39), (-1.5, 3), (0, 200.5, 70), (2**63, 2**63 + 3), (3,), (0,), (True, 3),
           (0, 3e39, 1e39), (numpy.int8(1), numpy.int8(4)), (3, numpy.uint8(1)), (numpy.uint8(3), -2), (numpy.bool_(1), 5, numpy.bool_(1)), (numpy.float32(0.5), 3),
           (numpy.int64(2), numpy.float64(4.5)), (1, 4 + 0j)]  # fmt: skip


def test_arange():
    assert not differing([(f"{args}, {code}", lambda np, a=args, t=code: np.arange(*a, dtype=t)) for args in ARANGES for code in (None, *"bBIlLefdF")])


# --- what is stored ---------------------------------------------------------------------------------------------------

STORED = {
    "element": lambda np, a, v: operator.setitem(a, 0, v),
    "slice": lambda np, a, v: operator.setitem(a, slice(None), v),
    "part": lambda np, a, v: operator.setitem(a, slice(1, None), v),
    "list": lambda np, a, v: operator.setitem(a, [0, 1], v),
    "mask": lambda np, a, v: operator.setitem(a, np.array([True, True]), v),
    "fill": lambda np, a, v: a.fill(v),
    "flat[0]": lambda np, a, v: operator.setitem(a.flat, 0, v),
    "flat[:]": lambda np, a, v: operator.setitem(a.flat, slice(None), v),
    "flat =": lambda np, a, v: setattr(a, "flat", v),
    "real =": lambda np, a, v: setattr(a, "real", v),
    "put": lambda np, a, v: np.put(a, [0, 1], v),
    "put_along_axis": lambda np, a, v: np.put_along_axis(a, np.array([0, 1]), v, 0),
    "putmask": lambda np, a, v: np.putmask(a, np.array([True, True]), v),
    "place": lambda np, a, v: np.place(a, np.array([True, False]), v),
    "copyto": lambda np, a, v: np.copyto(a, v),
    "copyto unsafe": lambda np, a, v: np.copyto(a, v, casting="unsafe"),
    "full": lambda np, a, v: np.full(2, v, a.dtype),
    "full_like": lambda np, a, v: np.full_like(a, v),
    "pad": lambda np, a, v: np.pad(a, 1, constant_values=v),
}


@pytest.mark.parametrize("store", STORED.values(), ids=STORED)
def test_stored(store):
    def case(np, x, code):
        a = np.zeros(2, code)
        return store(np, a, given(np, x)), a

    assert not differing([(f"{name} in {code}", lambda np, x=x, t=code: case(np, x, t)) for name, x in (NUMBERS | LISTS).items() for code in DTYPES])


def test_stored_as_bytes():
    assert not differing([(f"{name}", lambda np, x=x: np.full_like(np.zeros(2, "V4"), x)) for name, x in {**PYTHONS, "list": [1, 2.0]}.items()])
    assert not differing([("pad", lambda np: np.pad(np.zeros(2, "V4"), 1))])


# --- out= -------------------------------------------------------------------------------------------------------------

_UFUNCS = "add subtract divide power hypot left_shift bitwise_or gcd less nextafter invert negative reciprocal spacing".split()


@pytest.mark.parametrize("name", _UFUNCS)
def test_out_has_no_say_in_the_loop(name):
    some = {k: NUMBERS[k] for k in ("3", "-2", "2**62", "2.5", "True", "B(200)", "l(300)", "f(1.5)")}
    operands = itertools.product(some.items(), repeat=getattr(numpy, name).nin)

    def case(np, values, code):
        out = np.zeros(2, code)
        return getattr(np, name)(*values, out=out) is out, out

    cases = [(f"{[k for k, _ in pairs]} in {code}", lambda np, v=[v for _, v in pairs], t=code: case(np, v, t)) for pairs in operands for code in "dfBl"]
    assert not differing(cases)


def test_complex_results_in_a_real_out():
    def case(np, name, code, *others):
        out = np.zeros(2, code)
        getattr(np, name)(np.array([1 + 2j, 3]), *others, out=out, casting="unsafe")
        return out

    cases = [(f"{name} {code}", lambda np, n=name, t=code, o=others: case(np, n, t, *o))
             for name, *others in (("add", 1), ("negative",), ("absolute",), ("multiply", 2.0)) for code in "fdlB"]  # fmt: skip
    assert not differing(cases)


def test_complex_numbers_in_order():
    values = [complex("nan"), 1, complex(1, float("nan")), 2j]
    cases = [(f"{name} {a} {b}", lambda np, f=getattr(operator, name), a=a, b=b: f(np.array(values, a), np.array([1, float("nan"), 1, 2], b)))
             for name in ("lt", "le", "gt", "ge", "eq") for a in "FD" for b in "fdFD"]  # fmt: skip
    assert not differing(cases + [("ufunc", lambda np: np.less(np.array(values), 1.0))])


# --- statistics -------------------------------------------------------------------------------------------------------


def test_given_means():
    cases = [(f"{name} of {code}, {mean}", lambda np, n=name, t=code, m=m: getattr(np, n)(np.array([1, 2, 4], t), mean=given(np, m)))
             for name in ("var", "std") for code in "befdFl" for mean, m in {**NUMBERS, "[1.5]": [1.5]}.items() if mean not in ("1e308", "-1e308", "2**64")]  # fmt: skip
    assert not differing(cases)


def test_histogram_of_a_number():
    assert not differing([("plain", lambda np: np.histogram(np.array(1.5), bins=3)), ("range", lambda np: np.histogram(np.array(1.5), 2, (0, 2)))])


# --- where NumPy's own arrays, views and numbers of other kinds come in -------------------------------------------------


def test_numpys_array_as_out_is_what_comes_back():
    a = numpy.ones(3)
    assert plait.add(a, 1, out=a) is a and a.tolist() == [2, 2, 2]
    assert plait.cumsum(a, out=a) is a and plait.add(plait.arange(3.0), 1, out=(a,)) is a


def test_numpys_arrays_over_plaits_memory_are_views():
    x = plait.arange(6.0)
    over = numpy.float64(x)
    for view in plait.asarray(over), plait.ravel(over), plait.split(over, 2)[0], plait.reshape(over, (2, 3)):
        assert plait.shares_memory(view, x)


def test_require_gives_the_array_that_owns_its_memory():
    x = plait.arange(6.0)
    assert plait.require(x, None, "O") is x and plait.require(x, float, ["C", "W"]) is x
    assert plait.require(x[1:], None, "O").base is None


def _writeable(np, view):
    view.setflags(write=True)
    return view.flags.writeable


def test_views_that_stay_read_only():
    def read_only(np):
        x = np.arange(3)
        x.flags.writeable = False
        return x

    views = {
        "windows": lambda np: np.lib.stride_tricks.sliding_window_view(np.arange(6), 2),
        "part of them": lambda np: np.lib.stride_tricks.sliding_window_view(np.arange(6), 2)[1:],
        "as_strided": lambda np: np.lib.stride_tricks.as_strided(np.arange(6), (2,), (8,), writeable=False),
        "broadcast_to": lambda np: np.broadcast_to(np.arange(6), (2, 6)),
        "diagonal": lambda np: np.diagonal(np.eye(3)),
        "view": lambda np: read_only(np)[1:],
        "own": read_only,
    }
    assert not differing([(name, lambda np, make=make: _writeable(np, make(np))) for name, make in views.items()])
    with pytest.raises(ValueError, match="cannot set WRITEABLE"):
        _writeable(plait, plait.borrow(read_only(numpy)))


def test_odd_dtypes():
    misaligned = numpy.frombuffer(b"\0\4\0\0\0\0\0\0\0", "u1")[1:].view("i8").reshape(())
    cases = [
        ("flip of a string", lambda np: np.flip(np.array("a"))),
        ("flip of an object", lambda np: np.flip(np.array(None, object))),
        ("flip of a number", lambda np: np.flip(np.array(3))),
        ("diff", lambda np: np.diff(np.arange(4.0), n=10**8) if np is plait else np.diff(np.arange(4.0), n=5)),
        ("diff of rows", lambda np: np.diff(np.ones((2, 3), bool), n=7, axis=0)),
        ("diff of a number", lambda np: np.diff(np.array(1.0), n=2)),
    ]
    assert not differing(cases)
    assert range(9)[plait.borrow(misaligned)] == range(9)[misaligned]


def test_names_of_no_device(run_python):
    source = r"""
import plait
for name in ("cuda:-1", "cuda\0", "cuda:", "cpu\0"):
    try:
        plait.zeros(2, device=name)
    except ValueError as e:
        print("Device not understood" in str(e))
"""
    assert run_python(source).stdout.split() == ["True"] * 4


def test_numbers_beside_arrays_of_any_size():
    """What NumPy wrote in Python is its own code over Plait's arrays from a size on, with numbers that it would refuse."""
    beyond = {"2**63": 2**63, "1j": 1j, "'a'": "a", "[300]": [300], "None": None, "float32": numpy.float32(1.5), "array": ("l", 2)}
    cases = [(f"interp {k}", lambda np, v=v: np.interp(np.zeros(1 << 17), np.array([1.0, 2]), np.array([1.0, 2]), left=given(np, v))[:2]) for k, v in beyond.items()]
    cases += [(f"histogram {k}", lambda np, v=v: np.histogram(np.zeros(3), 2, (0, given(np, v)))) for k, v in beyond.items() if k not in ("1j", "'a'", "[300]")]
    cases += [(f"round {k}", lambda np, v=v: np.zeros(3).round(given(np, v))) for k, v in (beyond | {"arrays": [0, 1]}).items() if k != "2**63"]
    assert not differing(cases)
