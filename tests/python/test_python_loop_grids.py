"""Lists of lists of numbers in compiled loops: a grid keeps its rows, and each row its length."""

import pytest

import plait
from loop_checks import anew, check, check_compiled


def total(g):
    s = 0
    for i in range(len(g)):
        for j in range(len(g[i])):
            s += g[i][j] * (i - j)
    return s


def cheapest(g):
    for i in range(1, len(g)):
        for j in range(1, len(g[0])):
            g[i][j] += max(g[i - 1][j], g[i][j - 1])
    return g[-1][-1]


def rows(g):
    best = -1
    t = 0
    for row in g:
        for k, v in enumerate(row):
            best = max(best, v)
            t += k * v
        a, b = row
        t += sum(row) + max(row) + len(row) + row[-1] + a * b
        if 4 in row and row:
            t += 100
    return best, t


def transposed(g):
    for i in range(len(g)):
        for j in range(i):
            g[i][j], g[j][i] = g[j][i], g[i][j]
    return g


def beyond_rows(g):
    s = 0
    for i in range(5):
        s += g[i][0]
        g[i][1] = s
    return s


def beyond_a_row(g):
    for i in range(2):
        for j in range(5):
            g[i][j] = i + j


def filled(g, i, j):
    waiting, n = [(i, j)], 0
    while waiting:
        i, j = waiting.pop()
        if 0 <= i < len(g) and 0 <= j < len(g[0]) and g[i][j] == 1:
            g[i][j] = 2
            n += 1
            for di, dj in ((0, 1), (1, 0), (0, -1), (-1, 0)):
                waiting.append((i + di, j + dj))
    return n


def with_a_row(g, row):
    for i in range(2):
        g[0][i] += 1
        row[i] += g[0][i]
    return g, row


def with_its_row(g):
    return with_a_row(g, g[0])


def of_one_row(n):
    return cheapest([[1] * n] * n)


def grows(g):
    for i in range(3):
        g[i % 2].append(i)
    return g


def becomes_real(g):
    for i in range(2):
        g[i][0] = 0.5
    return g


def gets_a_row(g):
    for i in range(2):
        g[i] = [1, 2]
    return g


SQUARE = [[1, 2], [3, 4]]
COMPILED = [(f, (SQUARE,)) for f in (total, cheapest, rows, transposed, beyond_rows, beyond_a_row)] + [
    (total, ([[0.5, 2.0, 1.0], [3.0, 1e300, 0.0]],)),
    (transposed, ([[True, False], [True, True]],)),
    (filled, ([[1, 1, 0], [0, 1, 1], [1, 0, 1]], 0, 0)),
    (with_a_row, (SQUARE, [5, 6])),
]
PYTHONS = [(f, (SQUARE,)) for f in (with_its_row, grows, becomes_real, gets_a_row)] + [
    (of_one_row, (3,)),
    (total, ([[1, 2], [3]],)),
    (total, ([[1, 2], [3, 0.5]],)),
    (total, ([[1, 2], [3, 2**70]],)),
    (total, ([],)),
    (total, ([[], []],)),
]


@pytest.mark.parametrize("look", [1, 2])
@pytest.mark.parametrize("f, args", COMPILED + PYTHONS)
def test_grids_are_pythons(f, args, look, from_look):
    from_look(look)
    check(anew(f), args)


@pytest.mark.parametrize("f, args", COMPILED)
def test_loops_over_grids_are_compiled(f, args, at_once, monkeypatch):
    check_compiled(f, args, monkeypatch)


def test_rows_stay_the_same_objects(at_once):
    g = [[1, 2], [3, 4]]
    first, second = g
    plait.jit(anew(cheapest))(g)
    assert g[0] is first and g[1] is second and second == [3, 7]
