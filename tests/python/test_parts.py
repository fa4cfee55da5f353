"""Arrays that are written in parts (rolled, joined, padded, assigned to in slices) and read by loops: values, and who keeps what."""

import numpy
import pytest
from support import host

import plait

def sliced(np, u, start):
    e = (np.zeros if start else np.empty)(u.shape, u.dtype)
    cut = u.shape[-1] // 3
    e[..., cut:] = u[..., cut:] + 1
    e[..., : cut + start] = u[..., : cut + start] * 2
    return e * 3


def around(np, u, mode):
    p = np.pad(u, 1, mode=mode)
    return p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - u - u


FORMS = {
    "four rolls": lambda np, u: np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, -1) + np.roll(u, -1, -1),
    "both axes": lambda np, u: sum(np.roll(u, (i, j), (0, -1)) for i in (-1, 0, 1) for j in (-1, 0, 1)),
    "far": lambda np, u: np.roll(u, -777, -1) * 2 + np.roll(u, 1003, 0),
    "flat": lambda np, u: np.roll(u, 5) + u,
    "of a roll": lambda np, u: np.roll(np.roll(u * 2, 3, -1) + u, -2, 0) * 2,
    "concatenate": lambda np, u: np.concatenate((u, u * 2, u[:1])) * 2 + 1,
    "last axis": lambda np, u: np.concatenate((u[..., 1:], u, u[..., :1]), -1) * 2 + 1,
    "stack": lambda np, u: np.stack((u, u * 2, u + 1)) * 2,
    "stack last": lambda np, u: np.stack((u, u * 2, u + 1), -1) * 2,
    "append": lambda np, u: np.append(u[..., 2:], u[..., :2], -1) + u,
    "hstack": lambda np, u: np.hstack((u, u + u)) + 1,
    "block": lambda np, u: np.block([[u, u + 1], [u * 2, u]]) * 2,
    "slices": lambda np, u: sliced(np, u, 0),
    "slices over zeros": lambda np, u: sliced(np, u, 1),
    "into a write": lambda np, u: [e := np.zeros(u.shape, u.dtype), e.__setitem__(..., np.roll(u, 2, -1) * 2)][0],
    "sum of rows": lambda np, u: (np.roll(u, 1, -1) * u).max(-1),
    "held": lambda np, u: (lambda r: (r * 2, r))(np.roll(u, 1, -1)),
}
SHAPES = [(300, 310), (7, 9), (1, 6), (2, 6000), (5000,), (11,), (8, 9, 70), (400, 3), (3, 2, 3, 30)]


def same_bytes(got, want):
    got, want = (x if isinstance(x, tuple) else (x,) for x in (got, want))
    for g, w in zip(got, want):
        g = host(g)
        assert (g.dtype, g.shape) == (w.dtype, w.shape)
        assert g.tobytes() == w.tobytes()


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("dtype", ["f8", "i4", "c8", "?"])
def test_parts_are_read_where_they_lie(form, dtype, large):
    rng = numpy.random.default_rng(1)
    for shape in SHAPES:
        if len(shape) != 2 and form is FORMS["block"]:
            continue
        x = (rng.random(shape) * 3).astype(dtype)
        if dtype == "f8" and len(shape) > 1:
            same_bytes(form(plait, plait.asarray(x).T[::-1]), form(numpy, x.T[::-1]))
        same_bytes(form(plait, plait.asarray(x)), form(numpy, x))
        same_bytes(form(plait, plait.asarray(x) * x), form(numpy, x * x))


def test_one_plan_serves_other_edges(large):
    x = numpy.random.default_rng(2).random((60, 70))
    y = plait.asarray(x)
    for i, j in [(1, 1), (2, 3), (59, 69), (30, 35), (-1, 40), (0, 1), (1, 0), (61, 141), (5, -3), (-40, 2)]:
        same_bytes(
            plait.roll(y, i, 0) * 2 + plait.roll(y, j, 1) - plait.roll(y, (j, i), (0, 1)),
            numpy.roll(x, i, 0) * 2 + numpy.roll(x, j, 1) - numpy.roll(x, (j, i), (0, 1)),
        )
    for cut in (1, 10, 35, 69, 70):
        for end in (0, 3, 60):
            same_bytes(plait.concatenate((y[:, cut:], y, y[:, :end]), 1) * 2, numpy.concatenate((x[:, cut:], x, x[:, :end]), 1) * 2)


@pytest.mark.parametrize("mode", ["edge", "reflect", "symmetric", "wrap", "constant"])
def test_padding_modes(mode, large):
    rng = numpy.random.default_rng(3)
    for shape, widths in [((40, 30), 1), ((1, 3), 2), ((3, 4), ((2, 9), (0, 13))), ((5,), (0, 3)), ((2, 1, 3), ((1, 0), (2, 2), (0, 4))), ((3, 2), 0)]:
        for x in (rng.random(shape), numpy.asfortranarray(rng.random(shape)), rng.random(shape)[::-1]):
            want, got = numpy.pad(x, widths, mode=mode), plait.pad(plait.asarray(x), widths, mode=mode)
            if x.flags.forc:
                assert got.strides == want.strides
            same_bytes(got, want)
            same_bytes(plait.pad(plait.asarray(x) * 2, widths, mode=mode) + 1, numpy.pad(x * 2, widths, mode=mode) + 1)
    x = rng.random((300, 301))
    same_bytes(around(plait, plait.asarray(x), mode), around(numpy, x, mode))
    text = str(plait.explain(around, plait, plait.asarray(x), mode))
    assert text.startswith("1 region "), text


def diffuse(np, u, v, steps):
    def around(z):
        return np.roll(z, 1, 0) + np.roll(z, -1, 0) + np.roll(z, 1, 1) + np.roll(z, -1, 1) - 4 * z

    for _ in range(steps):
        r = u * v * v / (1 + v * v)
        u, v = u + 0.16 * around(u) - r + 0.035 * (1 - u), v + 0.08 * around(v) + r - 0.095 * v
    return u, v


def test_steps_of_two_fields(large):
    u, v = numpy.random.default_rng(4).random((2, 300, 280))
    same_bytes(diffuse(plait, plait.asarray(u), plait.asarray(v), 5), diffuse(numpy, u, v, 5))
