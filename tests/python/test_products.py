"""Products of floats are NumPy's to the bit: the order of the factors shows in what overflows or vanishes on the way."""
import pytest

SOURCE = """
import itertools, numpy, plait
numpy.seterr(all="ignore"), plait.seterr(all="ignore")
random = numpy.random.default_rng(5)

def data(shape, code):
    n = int(numpy.prod(shape))
    if code == "q":
        return random.integers(-2**62, 2**62, n).reshape(shape)
    wide = numpy.exp2(random.integers(-8, 9, n) * {"e": 1, "f": 6, "d": 60}[code]) * random.choice([-1, 1], n)
    rare = numpy.where(random.random(n) < .02, random.choice([0, numpy.inf, numpy.nan, 1e4]), random.standard_normal(n) + 1)
    near = 1 + random.standard_normal(n) / 50
    return [wide, rare, near][random.integers(3)].astype(code).reshape(shape)

def check(what, f, x):
    want, got = numpy.asarray(f(numpy, x)), numpy.asarray(f(plait, plait.asarray(x)))
    if got.dtype != want.dtype or not numpy.array_equal(got, want, equal_nan=True):
        print(what, x.dtype, x.shape, got.ravel()[:4], want.ravel()[:4])

for shape in [(3, 9000, 1), (200, 150), (5, 7, 11), (40000,), (2, 3), (3, 8), (9, 64, 100), (8, 4, 8, 3)]:
    axes = [None, *(a for k in range(1, len(shape) + 1) for a in itertools.combinations(range(len(shape)), k))]
    for code in "efdq":
        a = data(shape, code)
        dtype = "f" if code == "q" else None
        views = {"C": lambda x: x, "T": lambda x: x.T, "step": lambda x: x[::2], "inner": lambda x: x[..., ::2], "turned": lambda x: x[::-1]}
        for lies, view in views.items():
            for axis in axes:
                if code == "e" and lies not in "CT" and (axis is None or len(axis) > 1):
                    continue  # NumPy rounds float16 where its buffer happens to end
                check(f"prod {lies} {axis}", lambda np, x: np.prod(view(x), axis=axis, dtype=dtype), a)
                check(f"prod of x + 1 beside its max {lies} {axis}", lambda np, x: [np.prod(view(x) + 1, axis=axis, dtype=dtype), np.max(view(x) + 1, axis=axis)], a)
            if code in "fd" or (code == "e" and lies in "CT"):
                check(f"where {lies}", lambda np, x: np.prod(view(x), where=np.abs(view(x)) > 1e-3), a)
print("done")
"""


@pytest.mark.parametrize("env", [{"PLAIT_JIT": "off"}, {"PLAIT_JIT": "blocking"}, {"PLAIT_FUSE": "0"}], ids=str)
def test_factors_are_multiplied_in_numpys_order(run_python, env):
    assert run_python(SOURCE, timeout=300, env={"PLAIT_EAGER_LIMIT": "0", **env}).stdout.splitlines() == ["done"]


def test_the_order_shows(run_python):
    run_python("""
import numpy, plait as np
x = np.array([60000, 2, 0.25], dtype="e")
rows = np.repeat(x[:, None], 9000, 1)[..., None]
assert float(np.prod(x)) == 30000
with np.errstate(all="ignore"):
    assert np.isinf(np.prod(rows, axis=0)).all()
    assert float(np.prod(np.array([1e200, 1e200, 1e-300, 1e-300]))) == numpy.inf
    big = np.full(100_000, 1.0)
    big[:2] = 1e200
    big[-2:] = 1e-300
    assert float(np.prod(big)) == numpy.inf
    assert float(np.prod(big[::-1])) == 0
""")


START = """
import numpy, plait
numpy.seterr(all="ignore"), plait.seterr(all="ignore")
special = numpy.array([1, numpy.nan, numpy.inf, -numpy.inf, 0, -0.0, 2 + 1j, complex(0, numpy.inf)])
for count in (1, 2, 3, 8, 9, 40):
    for code in "FD":
        x = numpy.ones((count, len(special)), code)
        x[0] = special
        for f in (
            lambda np, x: np.prod(x, axis=0),
            lambda np, x: np.prod(x + 0, axis=0),
            lambda np, x: np.prod(x.T - 0, axis=1),
            lambda np, x: np.prod(x.real - 0, axis=0, dtype=x.dtype),
            lambda np, x: ((x / x).real - x).prod(axis=(0,)),
        ):
            want, got = f(numpy, x), numpy.asarray(f(plait, plait.asarray(x)))
            for part in ("real", "imag"):
                if not numpy.array_equal(getattr(got, part), getattr(want, part), equal_nan=True):
                    print(count, code, got, want)
print("done")
"""


@pytest.mark.parametrize("env", [{}, {"PLAIT_EAGER_LIMIT": "0", "PLAIT_PLAN": "always"}], ids=str)
@pytest.mark.parametrize("tier", ["off", "blocking"])
def test_complex_products_start_from_one(run_python, env, tier):
    """1 * (nan + 0j) is nan + nanj."""
    assert run_python(START, env={"PLAIT_JIT": tier, **env}).stdout.split() == ["done"]
