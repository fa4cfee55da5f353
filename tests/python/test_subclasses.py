"""Subclasses of plait.ndarray are asked what NumPy asks those of numpy.ndarray. Each test runs the same program in both packages."""

import inspect
import pickle
import warnings

import numpy
import pytest
from support import outcome

import plait


def in_both(program):
    """Asserts that program(np) gives the same in both packages, and returns that."""
    ours, theirs = program(plait), program(numpy)
    assert ours == theirs
    return theirs


def shown(x):
    """A result as type, dtype, shape and values that do not name the package."""
    if isinstance(x, (tuple, list)):
        return [shown(v) for v in x]
    if hasattr(x, "dtype") and hasattr(x, "shape"):
        a = numpy.asarray(x)
        return ("scalar" if a.ndim == 0 and not isinstance(x, plait.ndarray) else type(x).__name__), a.dtype.str, a.shape, a.tolist()
    return x


# --- __array_function__ -----------------------------------------------------------------------------------------------

ASKED = {
    "reductions": lambda np, s, a: [np.sum(s), np.mean(s), np.max(s), np.any(s), np.argmax(s), np.std(s), np.sum(s, axis=0, keepdims=True)],
    "out": lambda np, s, a: [np.sum(a, out=s), np.copyto(s, a), np.copyto(a, s)],
    "joining": lambda np, s, a: [np.concatenate([s, a]), np.stack([a, s]), np.vstack((s, s)), np.block([[a], [s]]), np.hstack([a, s])],
    "elementwise": lambda np, s, a: [np.where(a > 1, s, 0), np.clip(s, 0, 1), np.round(s), np.isclose(s, a), np.real(s)],
    "shape": lambda np, s, a: [np.reshape(s, (2, 3)), np.transpose(s), np.ravel(s), np.broadcast_to(s, (2, 6)), np.shape(s), np.flip(s)],
    "products": lambda np, s, a: [np.dot(s, a), np.outer(a, s), np.einsum("i,i", a, s), np.linalg.norm(s), np.cross(s[:3], s[:3])],
    "by NumPy": lambda np, s, a: [np.sort(s), np.unique(s), np.median(s), np.fft.fft(s), np.interp(s, a, a), np.select([a > 1], [s])],
    "like": lambda np, s, a: [np.zeros_like(s), np.array([1], like=s), np.zeros(3, "f4", like=s), np.arange(3, like=s)],
    "nobody": lambda np, s, a: [np.sum(a), np.concatenate([a, [1.0]]), np.array([1.0, 2.0], like=None), np.asarray(s).sum(), s.sum()],
}


@pytest.mark.parametrize("calls", ASKED.values(), ids=ASKED)
def test_functions_ask(calls):
    def program(np):
        log = []

        class Asked(np.ndarray):
            def __array_function__(self, func, types, args, kwargs):
                public = getattr(np, func.__name__, None) or getattr(np.linalg, func.__name__, None) or getattr(np.fft, func.__name__)
                log.append((func.__name__, func is public, [t.__name__ for t in types], len(args), sorted(kwargs)))
                return "asked"

        return shown(calls(np, np.arange(6.0).view(Asked), np.arange(6.0))), log

    in_both(program)


class Given:
    """Gives back what the ufunc was called with."""

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return method, len(inputs), sorted(kwargs.items())


GIVEN = """
    reduce(x, 0, None, None, False) | reduce(x, out=None, axis=0, keepdims=True) | reduce(x, None, out=(None,), dtype=None)
    reduce(x, 0, None, None, False, np._NoValue, True) | reduce(x, 1, "f4", "out", True, None, True) | reduce(x) | reduce(x, out=())
    reduce(x, 0, axis=0) | reduce(x, 0, None, "out", out="out") | reduce(1, (), None, ...) | reduce(1, (), out=...) | accumulate(x, 0, None, None)
    accumulate(x, None, out=(None,), dtype=None) | accumulate(x, 1, "f4", "out") | accumulate(x) | accumulate([1], 0, None, ...)
    reduceat(x, [1], 0, None, None) | reduceat(x, [1], None, out=None, dtype="f4") | reduceat(x, [1]) | at(x, [1], 2)
"""


def test_methods_of_ufuncs_say_what_they_were_given():
    def program(np):
        results = []
        for text in GIVEN.replace("\n", "|").split("|"):
            if text.strip():
                try:
                    results.append(str(eval(f"np.add.{text.strip()}", {"np": np, "x": Given()})))
                except (TypeError, ValueError) as e:
                    results.append(type(e))
        return results

    in_both(program)


def test_functions_that_call_back_do_so_with_arrays_of_their_class():
    def program(np):
        class Own(np.ndarray):
            pass

        log = []

        def seen(x, axis=None):
            log.append((type(x).__name__, isinstance(x, np.ndarray), type(x) is np.ndarray))
            return (x if axis is None else x.sum(axis, keepdims=True)).view(np.ndarray)

        a = np.arange(6).reshape(2, 3)
        results = [
            np.apply_along_axis(seen, 0, a), np.apply_along_axis(seen, 1, a.view(Own)), np.apply_along_axis(lambda x: seen(x).view(Own), 0, a),
            np.apply_over_axes(seen, a, [0, 1]), np.piecewise(a, [a < 3, a >= 3], [seen, 1]), np.fromfunction(lambda i, j: seen(i), (2, 2)),
        ]  # fmt: skip

        def write(x):
            x[0] = 7
            return 1

        np.apply_along_axis(write, 1, a)
        return shown(results), [type(x).__name__ for x in results], a.tolist(), log

    in_both(program)


def test_functions_hand_on():
    def program(np):
        class Passing(np.ndarray):
            def __array_function__(self, func, types, args, kwargs):
                return super().__array_function__(func, types, args, kwargs)

        class Counting(Passing):
            calls = 0

            def __array_function__(self, func, types, args, kwargs):
                Counting.calls += 1
                return super().__array_function__(func, types, args, kwargs)

        s, t, a = np.arange(3.0).view(Passing), np.arange(3.0).view(Counting), np.ones(3)
        results = [np.sum(s), np.concatenate([a, s]), np.mean(t), np.sort(t), np.linalg.norm(s), np.where(a > 0, s, t), np.stack([s, t])]
        return shown(results), Counting.calls >= 3

    assert in_both(program)[1]


def test_functions_that_nobody_implements():
    def program(np):
        class Refusing(np.ndarray):
            def __array_function__(self, func, types, args, kwargs):
                return NotImplemented

        s = np.ones(3).view(Refusing)
        texts = [outcome(f) for f in (lambda: np.sum(s), lambda: np.linalg.norm(s), lambda: np.fft.fft(s), lambda: np.array([1], like=s))]
        return texts, outcome(lambda: np.zeros(3, like=3)), np.concatenate([s, np.ones(1)]).tolist()

    in_both(program)


def test_functions_are_functions():
    assert inspect.signature(plait.sum) == inspect.signature(numpy.sum)
    assert plait.sum.__doc__ == numpy.sum.__doc__ and plait.sum.__name__ == "sum" and "sum" in repr(plait.sum)
    for function in (plait.sum, plait.zeros, plait.linalg.norm, plait.sort):
        assert pickle.loads(pickle.dumps(function)).__name__ == function.__name__
    assert type("C", (), {"add_up": plait.sum, "__array__": lambda self, dtype=None, copy=None: numpy.ones(3)})().add_up() == 3


# --- __array_ufunc__ --------------------------------------------------------------------------------------------------


def test_methods_ask_for_their_reductions():
    def program(np):
        log = []

        class Asked(np.ndarray):
            def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
                given = {k: v for k, v in kwargs.items() if k not in ("out", "where")}
                log.append(
                    (ufunc.__name__, ufunc is getattr(np, ufunc.__name__), method, given, "out" in kwargs, kwargs.get("where") is True)
                )
                inputs = [x.view(np.ndarray) if isinstance(x, Asked) else x for x in inputs]
                if "out" in kwargs:
                    kwargs["out"] = tuple(x.view(np.ndarray) if isinstance(x, Asked) else x for x in kwargs["out"])
                return getattr(ufunc, method)(*inputs, **kwargs)

        s, m = np.arange(6.0).view(Asked), np.arange(6.0).reshape(2, 3).view(Asked)
        results = [
            s.sum(), s.sum(0), s.sum(axis=0, keepdims=True), s.sum(dtype="f4"), s.prod(), s.max(), s.min(axis=0), s.any(), s.all(),
            s.sum(out=np.zeros(())), s.max(initial=3), s.sum(where=np.arange(6) > 1), s.cumsum(), s.cumprod(), m.sum(axis=1), m.max((0, 1)),
            np.sum(s), np.max(m, axis=0), np.any(s), np.argmax(s), s.mean(), m.mean(axis=1), np.mean(s), np.ptp(s),
        ]  # fmt: skip
        results += [m.var(axis=1), s.std(), s.argmax()]
        return shown(results), log

    in_both(program)


def test_out_of_a_subclass_is_asked_for_reductions():
    class Asked(plait.ndarray):
        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            return ufunc.__name__, method

    out = plait.zeros(()).view(Asked)
    for call in (lambda: plait.ones(3).sum(out=out), lambda: plait.sum(plait.ones(3), out=out), lambda: plait.sum([1.0], out=out)):
        assert call() == ("add", "reduce")


def test_powers_in_place():
    def program(np):
        log = []

        class Asked(np.ndarray):
            def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
                log.append((ufunc.__name__, len(inputs), out is not None))
                return self

        s, i = np.ones(3).view(Asked), np.ones(3, int).view(Asked)
        s **= 2
        s **= 2.0
        s **= 0.5
        s **= -1
        s **= 3
        i **= 2
        i **= 2.0
        return log, s**2 is s

    in_both(program)


def test_a_class_of_its_own_methods():
    # numpy.sum and its kin call the method of a subclass.
    def program(np):
        class Own(np.ndarray):
            def sum(self, axis=None, out=None, **kwargs):
                return "sum", axis, sorted(kwargs)

            def mean(self, axis=None, dtype=None, out=None):
                return "mean", axis

        s = np.ones(3).view(Own)
        return np.sum(s), np.sum(s, axis=0, keepdims=True), np.mean(s, 0)

    in_both(program)


# --- __array_wrap__, __array_priority__, __array_finalize__ -------------------------------------------------------------


def test_array_wrap():
    def program(np):
        log = []

        class Wrapped(np.ndarray):
            def __array_wrap__(self, array, context=None, return_scalar=False):
                log.append(
                    (type(array).__name__, context and (context[0] is getattr(np, context[0].__name__), len(context[1]), context[2]))
                )
                return super().__array_wrap__(array, context, return_scalar)

        s, a = np.arange(1.0, 4.0).view(Wrapped), np.ones(3)
        out = np.zeros(3).view(Wrapped)
        results = [
            s + 1, a + s, s**2, -s, s == 1, np.sin(s), *divmod(s, 2), *np.modf(s), np.add(a, 1, out=out), np.add(s, 1, subok=False),
            s.sum(), s.sum(axis=0), np.add.reduce(s), np.add.outer(s, a), np.add.accumulate(s), s.mean(), s.round(),
        ]  # fmt: skip
        s **= 2
        s += 1
        return shown([*results, s]), log

    in_both(program)


def test_array_wrap_that_changes_the_type():
    def program(np):
        class Labelled(np.ndarray):
            def __array_wrap__(self, array, context=None, return_scalar=False):
                return {"value": np.asarray(array).tolist(), "scalar": return_scalar}

        class Old(np.ndarray):
            def __array_wrap__(self, array, context=None):
                return "old"

        s = np.ones(3).view(Labelled)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            old = np.ones(3).view(Old) + 1
        return s + 1, np.add(np.ones(3), s), s.sum(), old, [(w.category, str(w.message)) for w in caught]

    in_both(program)


def test_array_wrap_beside_numpys_arrays():
    class Wrapped(plait.ndarray):
        def __array_wrap__(self, array, context=None, return_scalar=False):
            return super().__array_wrap__(array, context, return_scalar)

    s, theirs = plait.ones(3).view(Wrapped), numpy.ones(3)
    for made in (s + theirs, theirs + s, plait.add(theirs, s), numpy.add(theirs, s), plait.where(theirs > 0, s, s) + s):
        assert type(made) is Wrapped and made.tolist() == [2, 2, 2]


def test_priority_decides_between_subclasses():
    def program(np):
        class First(np.ndarray):
            pass

        class Second(np.ndarray):
            __array_priority__ = 5

        class Derived(First):
            pass

        class Low(np.ndarray):
            __array_priority__ = -5

        a = np.ones(3)
        p, q, d, w = (a.view(c) for c in (First, Second, Derived, Low))
        return [type(r).__name__ for r in (p + q, q + p, p + d, d + p, a + p, w + a, a + w, w + p, np.add(p, q), np.multiply(a, d))]

    in_both(program)


RESULTS = {
    "scalars": lambda np, p: [p.argmax(), np.argmax(p), p.dot(p), np.vdot(p, p), np.count_nonzero(p), np.linalg.norm(p), p.reshape(3, 1).trace()],
    "0-D arrays": lambda np, p: [p.sum(), p.any(), p.mean(), np.max(p), np.median(p)],
    "arrays": lambda np, p: [
        np.outer(p, p), np.tensordot(p, p, 1), np.broadcast_to(p, (2, 3)), np.cross(p, p), np.concatenate([p, p]), np.where(p > 1, p, p),
        np.linalg.norm(p.reshape(3, 1), axis=0),
    ],
    "subclass": lambda np, p: [
        p.reshape(3, 1).argmax(0), p.dot(p.reshape(3, 1)), p.round(), np.round(p), np.sort(p), p.cumsum(), p.take([0]), p.argsort(), np.unique(p),
        np.isclose(p, p), np.linalg.inv(np.eye(2).view(type(p))), np.broadcast_to(p, (2, 3), subok=True), p[[0, 1]], p.astype("f4"),
        np.count_nonzero(p.reshape(3, 1), axis=0), p.clip(0, 1), np.tile(p, 2), np.diff(p),
    ],
}  # fmt: skip


@pytest.mark.parametrize("calls", RESULTS.values(), ids=RESULTS)
def test_kinds_of_results(calls):
    def program(np):
        return shown(calls(np, np.arange(3.0).view(type("Kind", (np.ndarray,), {}))))

    in_both(program)


def test_attributes_pass_on():
    # The example of NumPy's guide to subclassing.
    def program(np):
        class Info(np.ndarray):
            def __array_finalize__(self, source):
                self.info = getattr(source, "info", None)

        s = np.arange(3.0).view(Info)
        s.info = "metres"
        made = [
            s[1:],
            s[[0, 1]],
            s[s > 0],
            s + 1,
            s.copy(),
            s.reshape(3, 1),
            np.sort(s),
            s.take([1]),
            s.cumsum(),
            s.sum(),
            np.exp(s),
            s.view(Info),
        ]
        made += [s.astype("f4"), np.unique(s), s.T, np.zeros_like(s)]
        return [(type(x).__name__, x.info) for x in made]

    in_both(program)


# --- what NumPy asks of the mask, of a mean, of objects that are no arrays, and of a ufunc's text -------------------------


def test_the_mask_of_a_ufunc_is_asked():
    def program(np):
        class Asked(np.ndarray):
            def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
                return ufunc.__name__, method, sorted(kwargs)

        mask, out = np.array([True, False]), np.zeros(2)
        return np.negative(np.ones(2), where=mask.view(Asked), out=out), np.add(out, 1, where=mask.view(Asked)), shown(out)

    in_both(program)


def test_median_asks_for_the_mean():
    def program(np):
        class Mean(np.ndarray):
            def mean(self, axis=None, dtype=None, out=None):
                return -7

        return np.median(np.arange(3.0).view(Mean)), np.median(np.arange(3.0))

    in_both(program)


def test_objects_wrap_what_ufuncs_make_of_them():
    def program(np):
        class Wraps:
            def __array__(self, dtype=None, copy=None):
                return np.ones(2)

            def __array_wrap__(self, array, context=None, return_scalar=False):
                function, operands, place = context
                return type(self), function is np.minimum, [x is self for x in operands], isinstance(array, np.ndarray), place

        class Important(Wraps):
            __array_priority__ = 20.0

        a, b = Wraps(), Important()
        return [np.minimum(a, np.zeros(2)), np.minimum(np.zeros(2), b), np.minimum(a, a), np.minimum(a, b)] == [
            (Wraps, True, [True, False], True, 0), (Important, True, [False, True], True, 0),
            (Wraps, True, [True, True], True, 0), (Important, True, [False, True], True, 0),
        ]  # fmt: skip

    assert in_both(program)


def test_broadcast_names_its_arrays():
    def program(np):
        a, b = np.arange(6.0).reshape(2, 3), np.arange(3.0)
        it = np.broadcast(a, np.broadcast(b, 1))
        values = [tuple(map(float, v)) for v in it]
        it.reset()
        return it.shape, it.nd, it.size, it.numiter, it.index, values, [x.base is y for x, y in zip(it.iters, (a, b))]

    assert in_both(program)[-1] == [True, True]


def test_the_text_of_a_ufunc_can_be_set():
    text = plait.add.__doc__
    try:
        plait.add.__doc__ = "another"
        assert plait.add.__doc__ == "another"
    finally:
        del plait.add.__doc__
    assert plait.add.__doc__ == text
