import copy
import functools
import pickle
import warnings
from unittest import mock

import numpy
import pytest
from support import NATIVE, both, outcome, same, sample

import plait


@pytest.mark.parametrize("code", NATIVE)
def test_array_shares_memory(code):
    a = plait.array(sample(code))
    host = numpy.asarray(a)
    assert host.dtype == numpy.dtype(code)
    host[0, 0] = 1
    assert a[0, 0] == 1
    assert not numpy.shares_memory(numpy.array(a), host)


@pytest.mark.parametrize("code", NATIVE)
def test_buffer(code):
    host = sample(code)
    view = memoryview(plait.array(host))
    assert view.shape == host.shape and view.strides == host.strides and view.format == memoryview(host).format
    numpy.testing.assert_array_equal(numpy.asarray(view), host)


def test_buffer_of_a_view_and_of_read_only_memory():
    a = plait.arange(12.0).reshape(3, 4)
    numpy.testing.assert_array_equal(numpy.asarray(memoryview(a[::2, 1:])), [[1, 2, 3], [9, 10, 11]])
    assert memoryview(plait.broadcast_to(a, (2, 3, 4))).readonly
    with pytest.raises(TypeError, match="C-contiguous"):
        memoryview(a.T).cast("B")


def test_interface_pins():
    a = plait.arange(4.0)
    pointer = a.__array_interface__["data"][0]
    a += 1
    assert a.__array_interface__["data"][0] == pointer == a.ctypes.data


def test_dlpack():
    a = plait.arange(6.0).reshape(2, 3)
    assert a.__dlpack_device__() == (1, 0)
    host = numpy.from_dlpack(a)
    numpy.testing.assert_array_equal(host, [[0, 1, 2], [3, 4, 5]])
    source = numpy.arange(3)
    back = plait.from_dlpack(source)
    source[0] = 7
    assert back[0] == 7


@pytest.mark.parametrize("code", [*NATIVE, "U3", "O", "M8[s]", "g", [("x", "i4"), ("y", "f8")]], ids=str)
def test_pickle_and_copy(code):
    host = numpy.zeros((2, 3), code)
    a = plait.array(host)
    for other in (pickle.loads(pickle.dumps(a)), copy.copy(a), copy.deepcopy(a)):
        assert isinstance(other, plait.ndarray) and other is not a
        same(plait.asarray(other), host)


def test_numpy_functions_dispatch():
    a = plait.arange(6.0).reshape(2, 3)
    host = numpy.asarray(a)
    for result, expected in [
        (numpy.sin(a), numpy.sin(host)), (numpy.add(host, a), host + host), (host + a, host + host), (a + host, host + host),
        (numpy.sum(a, axis=0), host.sum(axis=0)), (numpy.concatenate([a, a]), numpy.concatenate([host, host])),
        (numpy.sort(a), host), (numpy.linalg.norm(a, axis=1), numpy.linalg.norm(host, axis=1)), (numpy.float64(2) * a, 2 * host),
        (numpy.add.reduce(a), host.sum(axis=0)), (numpy.where(a > 2, a, 0), numpy.where(host > 2, host, 0)),
    ]:  # fmt: skip
        assert type(result) is plait.ndarray
        same(result, expected)


def test_other_types_may_take_over():
    class Other:
        __array_ufunc__ = None

        def __radd__(self, a):
            return "other"

    assert plait.ones(2) + Other() == "other"


def test_subclass():
    class Named(plait.ndarray):
        def __array_finalize__(self, obj):
            self.name = getattr(obj, "name", "none")

    a = plait.arange(4.0).view(Named)
    a.name = "x"
    for b in (a[1:], a + 1, -a, numpy.sqrt(a), a.T, a.reshape(2, 2), a.copy()):
        assert type(b) is Named and b.name == "x"
    assert a.sum() == 6 and isinstance(a, plait.ndarray)
    assert repr(a).startswith("Named(")


def test_isinstance_accepts_numpys_arrays():
    assert isinstance(numpy.zeros(1), plait.ndarray) and issubclass(numpy.ndarray, plait.ndarray)
    assert not isinstance([1], plait.ndarray) and not isinstance(numpy.float64(1), plait.ndarray)
    assert plait.ndarray[tuple[int], numpy.dtype[numpy.float64]]


def test_arrays_pass_for_numpys_in_python_code():
    x = plait.arange(6.0).reshape(2, 3)
    assert type(x) is plait.ndarray and x.__class__ is numpy.ndarray
    assert isinstance(x, numpy.ndarray) and isinstance(x, plait.ndarray) and not isinstance(x, numpy.matrix)
    match x:
        case numpy.ndarray():
            pass
        case _:
            pytest.fail("no match")
    for by in (numpy.ndarray, plait.ndarray):  # the latter under python -m plait
        kind = functools.singledispatch(lambda v: "object")
        kind.register(by, lambda v: "array")
        assert kind(x) == kind(numpy.zeros(2)) == "array" and kind([1]) == "object"
    assert isinstance(mock.Mock(spec=x), plait.ndarray)


def test_instances_of_subclasses_are_of_their_class():
    class Named(plait.ndarray):
        def again(self):
            return self.__class__(2)

    class Other(Named):
        pass

    a = plait.arange(4.0).view(Named)
    assert a.__class__ is Named is type(a.again()) and not isinstance(a, numpy.ndarray)
    assert all(type(b) is Named for b in (copy.copy(a), copy.deepcopy(a)))
    a.__class__ = Other
    assert type(a) is Other
    with pytest.raises(TypeError):
        plait.ones(2).__class__ = int


def test_c_code_sees_another_type():
    x = plait.ones(3)
    for call in (
        lambda: numpy.ndarray.sum(x), lambda: numpy.ndarray.__add__(x, x), lambda: numpy.ndarray.shape.__get__(x),
        lambda: numpy.ndarray.__setstate__(x, ()), lambda: numpy.ndarray.__reduce__(x), lambda: numpy.ndarray.__array_function__(x),
    ):  # fmt: skip
        with pytest.raises(TypeError):
            call()


def test_numpys_python_code_takes_arrays_for_its_own():
    x, host = plait.arange(6.0).reshape(2, 3), numpy.arange(6.0).reshape(2, 3)
    numpy.testing.assert_equal(x, host)
    numpy.testing.assert_allclose(host + 1, x + 1)
    with pytest.raises(AssertionError):
        numpy.testing.assert_equal(x, host + 1)
    assert repr(numpy.matrix(x)) == repr(numpy.matrix(host)) and repr(numpy.rec.array(x)) == repr(numpy.rec.array(host))
    assert repr(numpy.ma.masked_where(x > 2, x)) == repr(numpy.ma.masked_where(host > 2, host))
    assert numpy.polynomial.polynomial.polyval(x, numpy.ones((2, 2))).shape == (2, 2, 3)
    assert numpy.ctypeslib.ndpointer(float, 2).from_param(x).data == x.ctypes.data


def test_to_numpy():
    x = plait.arange(3.0)
    host = x.to_numpy()
    host[0] = 5
    assert type(host) is numpy.ndarray and x[0] == 5
    assert x.to_numpy(dtype=object).dtype == object
    x.to_numpy(copy=True)[0] = 9
    assert x[0] == 5


@pytest.mark.parametrize("value", [3, [1.5, 2], [[1, 2], [3, 4]], [], list(range(2000)), ["a"], [True], [1j], 2.5])
def test_printing(value):
    assert repr(plait.array(value)) == repr(numpy.array(value))
    assert str(plait.array(value)) == str(numpy.array(value))
    assert f"{plait.array(value)}" == f"{numpy.array(value)}"


def test_views_that_numpy_made_come_back_as_views():
    a = plait.arange(6.0).reshape(2, 3)
    b = plait.lib.stride_tricks.sliding_window_view(a, 2, axis=1)
    a[0, 0] = 50
    assert b[0, 0, 0] == 50
    c = plait.matrix_transpose(a)
    c[0, 1] = 8
    assert a[1, 0] == 8


def test_frombuffer_shares_its_buffer():
    memory = bytearray(8 * 3)
    a = plait.frombuffer(memory)
    memory[:8] = numpy.float64(2.5).tobytes()
    assert a[0] == 2.5


def test_pickles_are_in_c_order_or_fortran_order():
    for a in (plait.broadcast_to(plait.arange(2.0), (4, 2)), plait.ones((2, 3, 4)).transpose(0, 2, 1), plait.ones((2, 3)).T):
        assert pickle.loads(pickle.dumps(a)).strides == pickle.loads(pickle.dumps(numpy.asarray(a))).strides


def test_fields_of_records_share_memory():
    for record in ("f8,i4", "f8,f8"):
        table = plait.zeros(3, record)
        column = table["f0"]
        column[1] = 2
        plait.add(column, 1, out=column)
        table["f1"][...] = 5
        assert table.tolist() == [(1, 5), (3, 5), (1, 5)] and column.tolist() == [1, 3, 1]
        assert column[::-1].tolist() == [1, 3, 1] and plait.diagonal(table["f0"][None])[0] == 1


def test_mistakes_of_divmod_and_concatenate():
    both(lambda np, a: divmod(a, 1j), sample("d"))
    both(lambda np, a: np.divmod(a, a.astype("D")), sample("e"))
    both(lambda np, a: np.divmod(a, "x"), sample("d"))
    both(lambda np, a: np.concatenate([a, a.astype("D")], dtype="f8"), sample("d"))
    both(lambda np, a: np.concatenate([a, a.astype("D")], dtype="F"), sample("d"))


def test_arrays_of_no_dimensions():
    for code in NATIVE:
        for convert in (float, int, complex, bool):
            both(lambda np, a: convert(a), numpy.array(1, code))
    both(lambda np, a: np.cross(a, a), numpy.array([1, 2]))
    a = plait.ones(3)
    assert plait.squeeze(a) is a and plait.squeeze(a, ()) is not a


def test_subclasses_take_over_ufuncs():
    # The example of NumPy's guide to subclassing, run in both packages: the same calls, the same results.
    # numpy.clip calls a ufunc that has no public name.
    def calls_of(np):
        calls = []

        class Unwrapping(np.ndarray):
            def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
                ours = ufunc is getattr(np, ufunc.__name__) or ufunc is numpy._core.umath.clip
                calls.append((ufunc.__name__, ours, method, len(inputs), out is not None))
                inputs = [x.view(np.ndarray) if isinstance(x, Unwrapping) else x for x in inputs]
                if out is not None:
                    kwargs["out"] = tuple(x.view(np.ndarray) if isinstance(x, Unwrapping) else x for x in out)
                results = super().__array_ufunc__(ufunc, method, *inputs, **kwargs)
                if results is NotImplemented or method == "at":
                    return results
                results = results if ufunc.nout > 1 else (results,)
                outs = out or (None,) * ufunc.nout
                results = tuple(np.asarray(r).view(Unwrapping) if o is None else o for r, o in zip(results, outs, strict=True))
                return results if ufunc.nout > 1 else results[0]

        s, a = np.arange(1.0, 4.0).view(Unwrapping), np.ones(3)
        results = [
            s + 1, 1 + s, a + s, s + a, -s, abs(s), s**2, s**0.5, s @ s, s < 2, *divmod(s, 2), np.exp(s), np.add(1, s), s.clip(1, 2),
            np.add(a, 1, out=s.copy()), np.add(a, 1, s.copy()), np.matmul(s, s), *np.modf(s), np.add.reduce(s),
            np.add.reduce(s, axis=None, keepdims=True), np.add.accumulate(s), np.add.outer(s, a), np.add.reduceat(s, [0, 1]),
        ]  # fmt: skip
        assert all(type(r) is Unwrapping for r in results)
        np.add.at(s, [0], 1)
        s += 1
        a *= s
        assert type(s) is Unwrapping and type(a) is np.ndarray
        assert np.ndarray.__array_ufunc__(a, np.add, "__call__", a, s) is NotImplemented
        return calls, [(numpy.asarray(r) * 1.0).round(12).tolist() for r in (*results, s, a)]

    assert calls_of(plait) == calls_of(numpy)


def test_subclasses_that_refuse_ufuncs():
    class Refusing(plait.ndarray):
        __array_ufunc__ = None

    class Passing(plait.ndarray):
        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            return NotImplemented

    for kind in (Refusing, Passing):
        s = plait.ones(3).view(kind)
        for operation in (lambda: s + 1, lambda: plait.ones(3) + s, lambda: plait.exp(s), lambda: plait.add.reduce(s)):  # noqa: B023
            with pytest.raises(TypeError, match="operand"):
                operation()


def test_real_arrays_have_no_imaginary_part_to_set():
    def set_part(np, a):
        a.imag = 3
        return a

    for code in ("d", "i", "?", "D"):
        both(set_part, sample(code))


def test_names_of_memory_that_is_somebody_elses():
    text = b"12345678"
    for m in numpy, plait:
        a = m.arange(4.0)
        assert m.frombuffer(a, dtype="i8").base is a and m.frombuffer(text, "u1").base is text
        assert m.array(memoryview(a), copy=False).base.obj is a
        assert not m.diag(m.eye(2)).flags.owndata and m.rollaxis(a.reshape(2, 2), 0).base is a


def test_views_that_are_not_aligned_share_their_memory():
    for m in numpy, plait:
        bytes = m.zeros(17, "u1")
        a = bytes[1:].view("f8")
        a[0] = 1.5
        assert not a.flags.aligned and bytes[1:9].view("f8").tolist() == [1.5] and (a @ a) == 2.25
        b = m.arange(10)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            b.strides = 3
        assert not b.flags.aligned


def test_ctypes_pointers_keep_the_array():
    import ctypes
    import weakref

    a = plait.arange(3.0)
    alive = weakref.ref(a)
    pointer = a.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    del a
    assert alive() is not None and pointer[2] == 2.0
    del pointer
    assert alive() is None


def test_subclasses_call_the_hook_of_their_base():
    class Noting(plait.ndarray):
        def __array_finalize__(self, source):
            super().__array_finalize__(source)
            self.source = source

    a = plait.arange(3).view(Noting)
    b = a[1:]
    assert type(b) is Noting and b.source is a and b.base is a


def test_hashes_of_bytes():
    import hashlib

    a = numpy.arange(6.0).reshape(2, 3)
    assert hashlib.md5(plait.array(a)).hexdigest() == hashlib.md5(a).hexdigest()


def test_structured_arrays_come_back_as_they_were():
    padded = numpy.dtype({"names": ["a", "b"], "formats": ["i4", "S3"], "itemsize": 16})
    nested = numpy.dtype([("a", "f8", (2, 5)), ("b", "V5")])
    for dtype in padded, nested, numpy.dtype([("a", "i4"), ("b", "f8")], align=True):
        a = plait.zeros(3, dtype)
        assert numpy.array(a).dtype == dtype == plait.array(a).dtype


def test_objects_in_object_arrays_stay_themselves():
    for m in numpy, plait:
        a, inner = m.empty(2, object), m.arange(3)
        a[0] = inner
        assert a[0] is inner


def test_conjugate_takes_an_array_for_its_result():
    z = numpy.array([1 + 2j, 3j])
    both(lambda m, z: z.conjugate(m.empty(2, complex)), z)
    both(lambda m, z: z.real.conj(), z)
    both(lambda m, z: m.array([1 + 2j, 3], object).conj(), z)
    both(lambda m, z: m.array(["a"]).conjugate(), z)


def test_flags_are_set_as_numpys():
    for name in ("c_contiguous", "owndata", "num", "aligned", "writebackifcopy", "writeable"):
        for value in True, False:
            both(lambda m: setattr(m.ones(3).flags, name, value))
    with pytest.raises(AttributeError):
        del plait.ones(3).flags.writeable
    with pytest.raises(ValueError):
        plait.ones(3).setflags(uic=True)


BUFFERS = {
    "numbers": lambda np: np.arange(3.0), "extents of 1": lambda np: np.arange(12.0).reshape(3, 4)[:1, :1],
    "empty": lambda np: np.zeros((0, 3)), "empty, of another order": lambda np: np.zeros((0, 3)).T, "strided": lambda np: np.arange(12.0).reshape(3, 4)[::2, ::-1],
    "fortran": lambda np: np.arange(6).reshape(2, 3).T, "scalar": lambda np: np.array(3), "text": lambda np: np.array(["a", "bc"]), "bytes": lambda np: np.array([b"a"]),
    "swapped": lambda np: np.arange(3).astype(">i4"), "long": lambda np: np.arange(3).astype("g"), "record": lambda np: np.zeros(2, [("a", "i4"), ("b", "f8")]),
    "objects": lambda np: np.array([1, None]),
}  # fmt: skip


@pytest.mark.parametrize("name", BUFFERS)
def test_memoryviews_are_as_numpys(name):
    ours, theirs = BUFFERS[name](plait), BUFFERS[name](numpy)
    a, b = memoryview(ours), memoryview(theirs)
    if ours.size > 1:  # NumPy's readers take the strides of a buffer for the array's, so that they are those, whatever they are
        assert a.strides == b.strides
    for of in "format", "itemsize", "nbytes", "shape", "ndim", "readonly", "c_contiguous", "f_contiguous", "suboffsets":
        assert getattr(a, of) == getattr(b, of), of
    assert a.obj is ours and (name == "objects" or a.tobytes() == b.tobytes())
    a.release()
    assert numpy.asarray(ours).tolist() == theirs.tolist()


def test_numpys_own_calls_take_plait_arrays():
    """Of code that nobody swapped: functions, operators and updates of NumPy's arrays, numbers and Plait's arrays mixed."""
    calls = [
        lambda x, h: numpy.dot(x, h), lambda x, h: h @ x, lambda x, h: numpy.matmul(x, h.T), lambda x, h: numpy.maximum(x, 0),
        lambda x, h: numpy.add(1.5, x), lambda x, h: numpy.float32(2) * x, lambda x, h: numpy.power(x, True),
        lambda x, h: numpy.sum(x, axis=0), lambda x, h: numpy.where(x > 0, x, h), lambda x, h: numpy.linalg.norm(x),
        lambda x, h: numpy.concatenate([x, h]), lambda x, h: numpy.dot(x, [1, 2, 3]), lambda x, h: numpy.dot(b=h, a=x),
        lambda x, h: numpy.multiply(x, 2j, out=h), lambda x, h: numpy.matmul(x, x, out=h), lambda x, h: numpy.negative(x, out=(h,)),
        lambda x, h: h @ x[:2], lambda x, h: numpy.exp(x, out=h, where=numpy.eye(3) > 0), lambda x, h: numpy.divmod(x, h),
        lambda x, h: numpy.add(x, h, h, dtype="f4"),
    ]  # fmt: skip
    a = numpy.random.default_rng(0).standard_normal((3, 3))
    for call in calls:
        for _ in range(2):  # what was found once is kept
            mine, theirs = numpy.ones((3, 3)), numpy.ones((3, 3))
            ours, want = outcome(lambda: call(plait.asarray(a), mine)), outcome(lambda: call(a, theirs))
            numpy.testing.assert_array_equal(mine, theirs)
            assert (ours is mine) == (want is theirs)
            if isinstance(want, tuple) and isinstance(want[1], str):
                assert ours == want
                continue
            for p, q in zip(ours if isinstance(want, tuple) else [ours], want if isinstance(want, tuple) else [want]):
                assert p.dtype == q.dtype and p.shape == q.shape
                numpy.testing.assert_allclose(numpy.asarray(p), q, rtol=1e-13)


def test_an_update_of_numpys_array_is_numpys():
    h, x = numpy.arange(6.0), plait.arange(6.0)
    kept, shared = h, plait.asarray(numpy.frombuffer(bytearray(48)))
    h += x
    h[1:] -= x[:-1]
    h *= shared + 2
    assert h is kept and type(h) is numpy.ndarray
    numpy.testing.assert_array_equal(h, [0, 4, 6, 8, 10, 12])
    with pytest.raises(TypeError, match="same_kind"):
        i = numpy.arange(6)
        i += x
