"""Lists of lists that compiled loops make, grow, exchange, and get from before: ragged ones, of tuples, with rows that are one object; and dicts of lists."""

from collections import defaultdict

import pytest
from loop_checks import anew, check, check_compiled

import plait


def dynamic(n, m):
    s = 0
    for t in range(3):
        grid = [[0] * m for _ in range(n)]
        for i in range(1, n):
            above, row = grid[i - 1], grid[i]
            for j in range(m):
                row[j] = above[j] * 2 + i * j + t
                grid[i][j] -= 1
        for row in grid:
            for v in row:
                s = s * 3 % 1000003 + v
    return s


def visited(n, edges):
    neighbours = []
    for _ in range(n):
        neighbours.append([])
    for u, v in edges:
        neighbours[u].append(v)
        neighbours[v].append(u)
    seen, todo, order = [False] * n, [0], []
    while todo:
        u = todo.pop()
        seen[u] = True
        order.append(u)
        for v in neighbours[u]:
            if not seen[v]:
                todo.append(v)
    return neighbours, order


def ragged(rows):
    t = 0
    for i in range(len(rows)):
        t += len(rows[i])
        for v in rows[i]:
            t = t * 2 + v
        if rows[i]:
            t += sum(rows[i]) + max(rows[i]) + (3 in rows[i])
    for row in rows:
        t = t * 3 + len(row)
    return t


def shared(n):
    out = 0.0
    for k in range(n):
        rows = [[1] * (k + 1)] * 3
        rows[0][k] = 9
        out = out * 2 % 10007 + rows[2][k] + rows[1][0]
        others = [[0.0] * 3 for _ in range(3)]
        others[1] = others[0]
        others[0][2] += k
        out += others[1][2] + others[2][2]
    return out


def grown(rows):
    for i in range(3):
        rows.append([i] * i)
        rows.append(rows[0])
        rows[i].append(7)
    return rows, rows[0] is rows[-1]


def exchanged(rows):
    for i in range(len(rows)):
        rows[i], rows[i - 1] = rows[i - 1], rows[i]
        rows[i][0] = i
    return rows


def replaced(rows):
    for i in range(len(rows)):
        old = rows[i]
        rows[i] = [i, i + 1, 2.5]
        old.append(i)
    return rows


def of_tuples(n):
    s = 0
    for _ in range(n):
        a = [[(i, i + 0.5)] for i in range(4)]
        a[2].append((9, 1.5))
        for row in a:
            for x, y in row:
                s += x * y
    return s


def deep(n):
    s = 0
    for t in range(n):
        b = [[[1] * 2 for _ in range(3)] for _ in range(2)]
        b[1][2][0] = 5 + t
        for p in b:
            for q in p:
                s += q[0]
    return s


def beyond(rows):
    for i in range(len(rows)):
        rows[i].append(rows[i][5])
    return rows


def last_of(n):
    s = 0
    for i in range(n):
        a = [[1, 2], [3, 4]]
        last = a[0]
        for j in range(4):
            row = a[j % 2] if j != 2 else a[0]
            s = s * 2 % 1000007 + last[0]
            row[0] += 1
            last = row
    return s


def outlives(n):
    s = 0
    first = [[0]]
    last = first[0]
    for i in range(n):
        rows = [[i, i], [i * 2]]
        s = s * 3 % 1009 + last[0]
        last = rows[1]
        last[0] += 1
    return s


def of_an_iteration_before(n):
    s, last = 0, []
    for i in range(n):
        rows = [[i], [i + 1]]
        if len(last) > 0:
            s = s * 3 % 1009 + last[0][0]
        last = rows
    return s, last


def is_made_anew(n):
    last = []
    for i in range(n):
        last = []
        last.append([i])
        last[0].append(7)
    return last


def one_of(a, i):
    if i % 2:
        return a[0]
    return a[1]


def returned(n):
    s = 0
    for i in range(n):
        a = [[1, 2], [3, 4]]
        r, q = one_of(a, i), one_of(a, i + 1)
        r.append(3)
        q[0] = 8
        s = s * 3 + len(a[0]) * a[1][0] + len(a[1])
    return s


def methods(rows, n):
    for i in range(n):
        r = rows.pop()
        r.append(i)
        rows.insert(0, r)
        if 3 in r:
            rows[0].remove(3)
        rows[0].extend(rows[1])
        rows.reverse()
        rows[0].sort()
        r += [4, 5]
        rows[1] += [6]
    return rows


def triangle(n):
    s = 0
    for _ in range(n):
        rows = [[1]]
        for _ in range(6):
            last, new = rows[-1], [1]
            for j in range(len(last) - 1):
                new.append(last[j] + last[j + 1])
            new.append(1)
            rows.append(new)
        s += sum(rows[-1]) + len(rows)
    return s


def taken(n, out):
    for k in range(n):
        todo = [[k, 1]]
        while todo:
            a, b = todo.pop()
            if a > 0:
                todo.append([a - 1, b * 2])
                todo.append([a - 2, b])
            else:
                out[0] += b
    return out


def unpacked(rows):
    s = 0
    for a, b in rows:
        s += a * b
        rows[0][0] = s
    return s


def counted(words):
    seen = []
    for w in words:
        for s in seen:
            if s[0] == w:
                s[1] += 1
                break
        else:
            seen.append([w, 1])
    return seen


def of_keys(n):
    s = 0
    for t in range(3):
        d = {}
        for k in range(n):
            if k % 3 not in d:
                d[k % 3] = []
            d[k % 3].append(k + t)
        for k, v in d.items():
            s = s * 3 % 10007 + k + sum(v) + len(v)
        d.setdefault(77, []).append(3)
        e = defaultdict(list)
        for k in range(n):
            e[k % 4].append((k, t))
        for k in e:
            for a, b in e[k]:
                s += a * b
        s += len(d) + d[77][0]
    return s


def by_key(d, n):
    for k in range(n):
        d[k % 3].append(k)
    return d


def lost(rows):
    for i in range(2):
        row = rows.pop()
        row.append(i)
    return rows


def widens(rows):
    for i in range(len(rows)):
        rows[i][0] = 0.5 if i else 7
        rows[i].append(i)
    return rows


def two_rows():
    row = [1, 2]
    return [row, row, [3, 4, 5]]


CASES = [
    (dynamic, (4, 5)), (dynamic, (0, 3)), (visited, (5, [(0, 1), (1, 2), (3, 4), (0, 3)])), (ragged, ([[1, 2], [], [3]],)), (ragged, ([[], []],)),
    (ragged, ([[True], [False, True]],)), (ragged, ([[1.5, 2], [3]],)), (shared, (4,)), (grown, ([[1, 2], [3, 4]],)), (grown, ([[], []],)), (grown, (two_rows(),)),
    (exchanged, ([[1, 2], [3, 4], [5, 6]],)), (exchanged, ([[1, 2], [3, 4], [5]],)), (replaced, ([[1, 2], [3, 4]],)), (replaced, ([[True], [False]],)),
    (of_tuples, (3,)), (deep, (3,)), (beyond, ([[1] * 6, [2] * 6, [1]],)), (last_of, (4,)), (returned, (4,)),
    (methods, ([[1, 2], [3, 4], [3]], 2)), (triangle, (5,)), (taken, (4, [0])), (unpacked, ([[1, 2], [3, 4]],)), (unpacked, ([[1, 2], [3, 4, 5]],)),
    (unpacked, ([[1, 2], [3]],)), (of_keys, (7,)), (by_key, ({0: [], 1: [3], 2: []}, 7)), (by_key, (defaultdict(list), 7)), (by_key, (defaultdict(list, {5: [1]}), 7)),
    (lost, ([[1], [2], [3, 4]],)), (lost, ([[1, 2]],)), (widens, ([[True, False], [False, True]],)), (widens, ([[1, 2], [3]],)),
]  # fmt: skip


@pytest.mark.parametrize(("f", "args"), CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_machine_code_has_them(f, args, at_once, monkeypatch):
    check(f, args)
    check_compiled(f, args, monkeypatch)


@pytest.mark.parametrize(("f", "args"), [*CASES, (outlives, (9,)), (of_an_iteration_before, (9,)), (is_made_anew, (9,)), (counted, ([1, 2, 1, 3, 1],))], ids=lambda x: getattr(x, "__name__", ""))
@pytest.mark.parametrize("look", [2, 3, 6])
def test_a_loop_that_python_has_begun(f, args, look, from_look):
    from_look(look)
    check(anew(f), args)


def test_lists_stay_the_objects_that_they_were(at_once):
    rows = two_rows()
    first, last = rows[0], rows[2]
    plait.jit(anew(grown))(rows)
    assert rows[0] is first and rows[1] is first and rows[2] is last and first == [1, 2, 7, 7]
    d = {0: [], 1: first, 2: []}
    plait.jit(anew(by_key))(d, 5)
    assert d[1] is first and first == [1, 2, 7, 7, 1, 4]


def test_a_row_that_has_another_name_in_the_loop(at_once):
    def f(rows, row):
        for i in range(3):
            rows[0].append(i)
            row.append(len(rows[0]))
        return rows, row

    rows = two_rows()
    assert plait.jit(f)(rows, rows[0])[1] == [1, 2, 0, 3, 1, 5, 2, 7]


def test_lists_that_nobody_has_any_more_are_made_again_where_they_were():
    def f(n):
        s = 0
        for t in range(n):
            rows = [[t] * 500 for _ in range(20)]
            rows[3].append(t)
            s += rows[3][-1] + len(rows[3])
        return s

    import resource

    jitted = plait.jit(f)
    assert jitted(1000) == f(1000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert jitted(20_000) == sum(t + 501 for t in range(20_000))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # of 1.6 GB
