"""Views of another dtype on a device, beside NumPy's: the same memory, never a copy on the host."""

import numpy
import pytest
from support import FAKE_DEVICE, needs_device, outcome

import plait

pytestmark = [needs_device, pytest.mark.usefixtures("large")]


def there(a):
    return plait.asarray(a, device="cuda")


def alike(program, *arrays):
    """What program(*arrays) returns: on the device the same bytes, shapes and strides, and nothing was copied to the host."""
    theirs = program(*[a.copy() for a in arrays])
    ours = [there(a) for a in arrays]
    before = plait.stats()["copies_to_host"]
    ours = program(*ours)
    plait.evaluate(*ours)
    assert plait.stats()["copies_to_host"] == before
    for x, y in zip(ours, theirs, strict=True):
        assert (x.device, x.dtype, x.shape, x.strides) == ("cuda:0", y.dtype, y.shape, y.strides)
        assert numpy.asarray(x).tobytes() == y.tobytes()


PAIRS = [("f4", "i4"), ("f8", "f4"), ("c8", "f4"), ("?", "u1"), ("u2", "i8")]
if not FAKE_DEVICE:  # the double's compiler is slow
    PAIRS += [(new, old) for old, new in PAIRS] + [("f8", "c16"), ("i8", "u1")]


@pytest.mark.parametrize("old, new", PAIRS, ids="-".join)
def test_writes_through_either_are_seen_in_the_other(old, new):
    def program(x):
        v = x.view(new)
        x[1:] = x[:-1]  # the view sees what waits to be written
        first = v.copy()
        v[:2] = v[3:1:-1]  # and is seen
        second = x.copy()
        x[...] = 1
        third = v[..., ::-1].copy()
        v[..., 0] = 0
        return first, second, third, v, x

    alike(program, numpy.random.default_rng(0).integers(0, 2, (5, 8)).astype(old))


def test_views_are_part_of_what_is_fused():
    def program(x):
        y = x * 2  # has not been computed
        bits = y.view("i4")
        odd = (bits & 1).astype("f4") + y
        bits ^= 1
        return odd, y, y[::-1].view("u4"), y.view("i4")[1:].view("f4") * 2

    alike(program, numpy.linspace(0, 1, 300, dtype="f4"))


def test_the_dtype_can_be_set():
    def program(x):
        y = x[:]
        y.dtype = "i4"
        y += 1
        return x, y

    alike(program, numpy.linspace(0, 1, 12))


def test_parts_of_complex_numbers_are_views():
    def program(x):
        pairs = x.view("f8").reshape(-1, 2)
        x.imag += 1
        pairs[::2] *= 2
        return x, x.real, pairs

    alike(program, numpy.arange(6) * (1 - 2j))


def test_every_byte_but_0_is_true():
    a = (numpy.arange(5000) % 4 * 85).astype("u1")
    alike(lambda x: (~x.view(bool), x.view(bool).astype("i4"), x.view(bool) == True, x.view(bool).sum(keepdims=True)), a)  # noqa: E712


@pytest.mark.parametrize(
    "shape, old, view",
    [
        ((), "f8", lambda x: x.view("f4")),
        ((), "f8", lambda x: x.view("i8")),
        ((3, 4), "f8", lambda x: x[:, ::2].view("f4")),
        ((3, 4), "f8", lambda x: x.T.view("f4")),
        ((3, 4), "f8", lambda x: x.T.view("i8")),
        ((3, 3), "f4", lambda x: x.view("f8")),
        ((3, 1), "f4", lambda x: x.view("f8")),
        ((0, 3), "f4", lambda x: x.view("f8")),
        ((0, 4), "f4", lambda x: x[:, ::2].view("f8")),
        ((4, 1), "f8", lambda x: x[::-2, ::-1].view("f4")),
        ((4, 6), "f4", lambda x: x[::2, 2:].view("f8")),
        ((2, 3), "f4", lambda x: x.view("wrong")),
    ],
)
def test_shapes_and_errors_are_numpys(shape, old, view):
    a = numpy.arange(numpy.prod(shape, dtype=int), dtype=old).reshape(shape)
    theirs = outcome(lambda: view(a))
    ours = outcome(lambda: view(there(a)))
    if isinstance(theirs, tuple):
        assert ours == theirs
    else:
        alike(lambda x: [view(x)], a)


def test_elements_that_no_kernel_can_read_are_a_copy_on_the_host():
    x = there(numpy.arange(41, dtype="u1"))
    odd = x[1:33].view("f4")
    assert odd.device == "cpu" and not odd.flags.writeable
    assert odd.tobytes() == bytes(range(1, 33))
    rows = there(numpy.arange(20, dtype="f4").reshape(4, 5))
    assert [rows[i, :4].view("f8").device for i in range(3)] == ["cuda:0", "cpu", "cuda:0"]
    rows[0] = 7  # waits to be written
    assert [rows[i, :4].view("f8").device for i in range(3)] == ["cuda:0", "cpu", "cuda:0"]
    assert rows[:, :4].view("c8").tolist() == numpy.asarray(rows)[:, :4].view("c8").tolist()
    assert (x + 1).tolist() == list(range(1, 42))  # the device was not lost


def test_padding_that_kernels_read_has_no_memory():
    x = numpy.random.default_rng(0).random((20, 30), "f4")

    def program(x, np=numpy):
        p = np.full((24, 34), 0.5, "f4") if np is numpy else np.full((24, 34), 0.5, "f4", device="cuda")
        p[2:-2, 2:-2] = x
        return p[1:-3, 4:] + p[4:, :-4] * 2 - p[::-1, ::-1][3:-1, 1:-3]

    made = program(there(x), plait)
    assert str(plait.explain(made)).startswith("1 region "), plait.explain(made)
    assert numpy.asarray(made).tobytes() == program(x).tobytes()


def test_parts_that_kernels_read_have_no_memory():
    x = numpy.random.default_rng(5).random((40, 50), "f4")

    def program(x, np=numpy):
        return np.roll(x, 1, 0) + np.roll(x, (2, -1), (0, 1)) + np.concatenate((x[20:], x[:20] * 2)) + np.roll(x * 2, 3, 1)

    made = program(there(x), plait)
    assert str(plait.explain(made)).startswith("1 region "), plait.explain(made)
    assert numpy.asarray(made).tobytes() == program(x).tobytes()
