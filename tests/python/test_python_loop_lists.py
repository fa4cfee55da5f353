"""Lists that compiled loops make and change: append, pop, insert, extend, `in`, comprehensions, and lists from before the loop, which have at its end, or where it
fails, what Python would have left in them."""

import bisect
import heapq

import numpy as np
import pytest
from loop_checks import anew, check, check_compiled, outcome

import plait
from plait._python_loops import codes, going_over

rng = np.random.default_rng(5)
X = rng.random(50)


def multiples(n):
    out = []
    for i in range(n):
        if i % 3 == 0:
            out.append(i * 2)
    return out


def of_floats(x):
    out, low = [], [0.5]
    for v in x:
        if v > 0.5:
            out.append(float(v))
        else:
            low.append(float(v))
    return out, low


def of_numpys(x):
    out = []
    for v in x:
        if v > 0.5:
            out.append(v)
    return out


def of_bools(x):
    out = [True]
    for v in x:
        out.append(bool(v > 0.5))
    return out


def primes(n):
    found = []
    for k in range(2, n):
        for p in found:
            if k % p == 0:
                break
        else:
            found.append(k)
    return found


def stacked(n):
    stack, total, deepest = [n], 0, 0
    while stack:
        k = stack.pop()
        total += k
        if k > 1:
            stack.append(k // 2)
            stack.append(k - k // 2 - 1)
        deepest = max(deepest, len(stack))
    return total, deepest, stack


def queue(n):
    q, seen = [0], [False] * n
    order = 0
    seen[0] = True
    while len(q) > 0:
        v = q.pop(0)
        order = order * 3 % 1000 + v
        for w in (2 * v + 1, 3 * v + 2):
            if w < n and not seen[w]:
                seen[w] = True
                q.append(w)
    return order, seen, q


def inside(n):
    total = 0
    for i in range(n):
        digits = []
        k = i * i
        while k:
            digits.append(k % 10)
            k //= 10
        digits.reverse()
        for d in digits:
            total = total * 7 % 10007 + d
        if 4 in digits:
            total += digits.index(4) + digits.count(4)
        total += len(digits) + sum(digits) + (max(digits) if digits else 1)
    return total


def methods(n):
    a = [5, 3]
    for i in range(n):
        a.insert(0, i)
        a.insert(-1, i * i)
        a.insert(99, 7)
        a.extend([i, i + 1])
        if len(a) > 12:
            a.pop(2)
            a.remove(7)
            a[1] = a[-1] - a[0]
        b = a.copy()
        b.append(100)
        if i == n - 2:
            a.clear()
    return a


def repeated(n):
    s = 0
    for i in range(1, n):
        row = [0] * i
        pair = [1, i] * 3
        row[i // 2] = 5
        row[-1] += pair[1]
        s += sum(row) + len(pair) + pair[4]
    return s


def comprehended(x, n):
    s = 0.0
    for i in range(n):
        squares = [v * v for v in x if v > 0.1 * i]
        evens = [k for k in range(i) if k % 2 == 0]
        s += sum(squares) + len(evens)
        if evens:
            s += evens[-1]
    return s


def arrays_of_lists(x, n):
    s = 0.0
    for i in range(n):
        chosen = []
        for v in x:
            if v > i / n:
                chosen.append(v)
        a = np.array(chosen)
        s += a.sum() + len(a)
    return s


def popped_empty(n):
    a = [1]
    for i in range(n):
        a.append(i)
        a.pop()
        a.pop()
    return a


def beyond(n, k):
    a = []
    for i in range(n):
        a.append(i)
        if a[i - k] < 0:
            break
    return a


def set_beyond(n):
    a = []
    for i in range(n):
        a.append(i)
        a[i * 2] = 5
    return a


def not_there(n):
    a = [1, 2]
    for i in range(n):
        a.append(a.index(i))
    return a


def filled(out, n):
    for i in range(n):
        out.append(i * 0.5)
    return len(out)


def given(values, n):
    for i in range(n):
        values.append(values[i] + 1)
    return values


def pushed(stack, v):
    stack.append(v)
    return len(stack)


def by_functions(n):
    a, s = [0], 0
    for i in range(n):
        s += pushed(a, i)
        if s % 5 == 0:
            s += a.pop()
    return a, s


def halves(n):
    found = []
    while n > 1:
        n //= 2
        found += [n]
    return found


def rows(x):
    out = []
    for row in x:
        out.append(row.sum())
    return out


def filled_area(grid, start):
    todo, count = [start], 0
    rows, cols = grid.shape
    while len(todo) > 0:
        y, x = todo.pop()
        if not grid[y, x]:
            continue
        grid[y, x] = 0
        count += 1
        for dy, dx in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            yy, xx = y + dy, x + dx
            if 0 <= yy < rows and 0 <= xx < cols and grid[yy, xx]:
                todo.append((yy, xx))
    return count, todo


def intervals(n):
    stack, out, depth = [(0, n, 0.5)], [], 0
    while stack:
        low, high, w = stack.pop()
        if high - low < 3:
            out.append((low, high, w, w > 0.1))
            continue
        mid = (low + high) // 2
        stack.append((low, mid, w / 2))
        stack.append((mid, high, w / 3))
        if (low, mid, w / 2) in stack:
            depth += 1
    return out, depth


def of_several_kinds(x, n):
    out, pairs = [], []
    k = 0
    for i in range(n):
        out.append(k)
        pairs.append((k, i))
        k = x[i] if i % 2 else i
    return out, pairs, out[-1], pairs[2]


def of_either(n):
    a = []
    for i in range(n):
        a.append(i if i % 2 else i * 0.5)
        if i == 5:
            a[0] = 7
    return a, a.pop()


def path(steps, i, j):
    found = [(i, j)]
    while (i, j) != (0, 0):
        k = 1 if i == 0 else 0 if j == 0 else steps[i, j]
        if k == 0:
            i -= 1
        elif k == 1:
            j -= 1
        else:
            i, j = i - 1, j - 1
        i, j = max(i, 0), max(j, 0)
        found.append((i, j))
    return found, np.array(found)


def read_tuples(pairs):
    s = 0
    for a, b in pairs:
        s += a * b
    for i in range(len(pairs)):
        s -= pairs[i][0]
    return s


def searched(values, n):
    s = 0
    for i in range(n):
        s += values.count(i) + (i in values) + (i not in values)
    return s, values.index(2), sum(k in values for k in range(n)), [values.index(values[k]) for k in range(2)]


def not_found(values, n):
    s = 0
    for i in range(n):
        s += values.index(i)
    return s


def popped_in_a_comprehension(a, n):
    return [a.pop() for k in range(n)], a


def shortened_as_it_goes(a):
    s = 0
    for i, v in enumerate(a):
        s += v * i + a.pop(0)
    return s, a


def moved(a, b):
    for i in range(5):
        a.append(b[0] + len(b))
        b.pop(0)
    return a, b


def moved_in_one(a):
    return moved(a, a)


def of_lists(n):
    out = []
    for i in range(n):
        out.append([i, i * 2])
    return out


def knapsack(weights, values, most):
    best = [0] * (most + 1)
    for i in range(len(weights)):
        for c in range(most, weights[i] - 1, -1):
            best[c] = max(best[c], best[c - weights[i]] + values[i])
    return best[most], best


def shortest(indptr, indices, weights, start, n):
    distance = np.full(n, np.inf)
    distance[start] = 0.0
    heap = [(0.0, start)]
    while heap:
        d, u = heapq.heappop(heap)
        if d > distance[u]:
            continue
        for k in range(indptr[u], indptr[u + 1]):
            v = indices[k]
            if d + weights[k] < distance[v]:
                distance[v] = d + weights[k]
                heapq.heappush(heap, (distance[v], v))
    return distance, heap


def heaps(values, n):
    h, s = [], 0
    for v in values:
        heapq.heappush(h, v)
        if len(h) > n:
            s = s * 3 % 1009 + heapq.heappop(h)
    for i in range(3):
        k = [7, 3, i, 9, 1, i]
        heapq.heapify(k)
        s += heapq.heapreplace(k, 5) + k[0] * 2 + k[-1]
    return h, s


def medians(x):
    out = x.copy()
    for i in range(1, len(x) - 1):
        w = []
        for d in (-1, 0, 1):
            w.append(x[i + d])
        w.sort()
        out[i] = w[1] + sorted(w)[0] * 10
    return out


def sorts(n):
    s = 0
    for i in range(n):
        a = [(k * 7919 + i) % 17 for k in range(i)]
        pairs = [(k % 3, -k) for k in range(i)]
        a.sort()
        pairs.sort()
        for j, v in enumerate(a):
            s = (s * 31 + v * j) % 10007
        for p, q in pairs:
            s = (s * 31 + p - q) % 10007
    return s


def inserted(values):
    a, s = [], 0
    for v in values:
        s = s * 5 % 1013 + bisect.bisect_left(a, v) + 2 * bisect.bisect_right(a, v)
        bisect.insort_left(a, v)
        bisect.insort_right(a, v + 1)
    return a, s


def popped_from_none(n):
    h = [3]
    for i in range(n):
        heapq.heappop(h)
    return h


def segments(z, level):
    found = []
    for i in range(len(z) - 1):
        a, b = z[i], z[i + 1]
        if (a > level) != (b > level):
            top = (float(i), i + (0.0 if a == b else (level - a) / (b - a)))
            found.append((top, (i, (b, a > level))))
    return found


def lengthened(found, n):
    s = 0.0
    for k in range(n):
        (a, b), c = found[k]
        found.append(((b, a + k), c))
        s += a * b - c
        if k % 3 == 2:
            found.pop(0)
    for (a, b), c in found:
        s = s * 0.5 + a - b * c
    return found, s


def of_several_forms(n):
    found = []
    for i in range(n):
        found.append((i, (i, i)) if i % 2 else ((i, i), i))
    return found


NESTED = [((1, 2.5), 3), ((4, 0.5), -1), ((-2, 9.0), 7)]
COMPILED = [
    (segments, (X, 0.3)), (segments, (X, 50.0)), (lengthened, (NESTED * 3, 6)), (lengthened, ([((1, 2), 3)] * 4, 7)),
    (shortest, (np.array([0, 2, 4, 5, 5]), np.array([1, 2, 2, 3, 3]), np.array([4.0, 1.0, 2.0, 5.0, 8.0]), 0, 4)), (heaps, ([5, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5], 4)),
    (heaps, (rng.integers(0, 50, 40), 9)), (medians, (X,)), (sorts, (40,)), (inserted, ([5, 1, 4, 1, 5, 9, 2, 6],)), (popped_from_none, (3,)),
    (knapsack, (np.array([2, 3, 4]), np.array([3, 4, 5]), 9)), (knapsack, ([2, 3, 4], [3.0, 4.5, 5.0], 9)),
    (searched, ([3, 1, 2, 1], 6)), (searched, ((3, 1, 2, 1), 6)), (searched, ([3.0, 2.5, 2.0], 6)),
    (not_found, ([2, 1, 0], 6)), (not_found, ((2, 1, 0), 6)),
    (multiples, (50,)), (of_floats, (X,)), (of_numpys, (X,)), (of_numpys, (X.astype("f4"),)), (of_bools, (X,)), (primes, (100,)), (stacked, (100,)), (queue, (50,)), (inside, (50,)), (methods, (20,)),
    (repeated, (20,)), (comprehended, (X, 8)), (arrays_of_lists, (X, 6)), (popped_empty, (5,)), (beyond, (5, 0)), (beyond, (5, 3)), (set_beyond, (5,)), (not_there, (5,)),
    (filled, ([], 9)), (filled, ([1.5], 9)), (given, ([3, 1, 2], 30)), (by_functions, (40,)), (rows, (X.reshape(10, 5),)), (methods, (1,)), (multiples, (0,)),
    (filled_area, (rng.integers(0, 5, (9, 8)), (4, 4))), (intervals, (30,)), (of_several_kinds, (rng.integers(0, 9, 20), 20)), (of_several_kinds, (X, 20)), (of_either, (9,)),
    (path, (rng.integers(0, 3, (9, 8)), 8, 7)), (read_tuples, ([(1, 2.5), (2, 0.5)] * 5,)), (read_tuples, ([(True, 2)] * 5,)),
]  # fmt: skip
OTHERS = [
    (shortened_as_it_goes, ([1, 2, 3, 4, 5, 6],)), (moved_in_one, ([1, 2, 3, 4, 5, 6],)),
    (popped_in_a_comprehension, ([1, 2, 3], 2)), (popped_in_a_comprehension, ([1, 2, 3], 9)),
]  # fmt: skip
OTHERS += [
    (of_several_forms, (6,)), (lengthened, ([((1, 2), 3), (1, (2, 3)), ((1, 2), 3)], 3)), (lengthened, ([((1, 2), 3), ((1, 2.5), 3)] * 2, 3)), (lengthened, ([((1, 2), "a")] * 3, 3)),
    (lengthened, ([((1, 2), 3, 4)] * 3, 3)), (lengthened, ([((1, 2, 5), 3)] * 3, 3)),
]  # fmt: skip
OTHERS += [(of_lists, (4,)), (halves, (1000,)), (filled, ([1], 9)), (given, ([], 3)), (given, ((1, 2), 3)), (given, (["a", 1], 1)), (filled, ([1 + 1j], 3)), (read_tuples, ([(1, 2.5), (2, 5)] * 5,)), (read_tuples, ([(1, 2.5), (2, 5, 1)],))]


@pytest.mark.parametrize("f, args", [*COMPILED, *OTHERS], ids=lambda x: getattr(x, "__name__", ""))
@pytest.mark.parametrize("start", [1, 2, 5])
def test_lists_are_pythons(f, args, start, from_look):
    from_look(start)
    check(f, args)


@pytest.mark.parametrize("f, args", COMPILED, ids=lambda x: getattr(x, "__name__", ""))
def test_no_such_loop_stays_pythons(f, args, at_once, monkeypatch):
    check_compiled(f, args, monkeypatch)


def test_the_list_stays_the_same(at_once):
    def grown(a, n):
        b = a
        for i in range(n):
            a.append(i)
        return a, b

    given = [7]
    a, b = plait.jit(grown)(given, 3)
    assert a is b and a is given and given == [7, 0, 1, 2]


def test_one_list_by_two_names_stays_pythons(at_once):
    def shared(a, b):
        for i in range(3):
            a.append(len(b))
        return a

    ours, theirs = [5], [5]
    assert plait.jit(shared)(ours, ours) == shared(theirs, theirs)


@pytest.mark.parametrize("values", [[1, 2.5, True], [np.int64(3), 4], [np.float32(1.5), np.float64(2)], [(1, 2), (3, 4.5)], [np.float64(3)] * 3, [(1,), 2], [2**70, 1.5], [2**60 + 1, 0.5]], ids=repr)
def test_lists_of_several_types(values, at_once):
    def doubled(a, n):
        for i in range(n):
            a.append(a[i])
        return a[-1], len(a)

    assert outcome(plait.jit(doubled), (values, 3)) == outcome(doubled, (values, 3))


def test_a_list_grows_in_code_that_is_soon_there(monkeypatch):
    for name, seconds in {"WORTH": 0.0, "PART": 0.0, "MUCH": 1e9}.items():
        monkeypatch.setattr(going_over, name, seconds)
    monkeypatch.setattr(codes.Code, "ready", property(lambda code: code.usable and (code.procedure.compile(quick=True) or True)))
    for f, args in COMPILED:
        assert outcome(plait.jit(f), args) == outcome(f, args)


def levenshtein(a, b):
    previous = list(range(len(b) + 1))
    for i, x in enumerate(a):
        current = [i + 1]
        for j, y in enumerate(b):
            current.append(min(previous[j + 1] + 1, current[j] + 1, previous[j] + (x != y)))
        previous = current
    return previous[-1], previous


def levels(n):
    seen = [False] * n
    frontier, depth, sizes = [0], 0, []
    seen[0] = True
    while frontier:
        following = []
        for v in frontier:
            for w in (2 * v + 1, 3 * v + 2):
                if w < n and not seen[w]:
                    seen[w] = True
                    following.append(w)
        sizes.append(len(frontier))
        frontier = following
        depth += 1
    return depth, frontier, sizes


def pascal(n):
    row, rows = [1], 0
    for i in range(n):
        row = [1] + [0] * 0 if False else [row[k] + (row[k - 1] if k else 0) for k in range(len(row))]
        row.append(1)
        rows += row[len(row) // 2]
    return row, rows


def not_always_moved(values, n):
    for i in range(n):
        if n > 100:
            values = [1]
    return values


def changed_and_moved(values, n):
    for i in range(n):
        values.append(i)
        values = [values[-1]]
    return values


def exchanged_lists(n):
    a, b = [1, 2], [3]
    for i in range(n):
        c = a
        a = b
        b = c
    return a, b


CARRIED = [
    (levenshtein, (list(rng.integers(0, 3, 12)), list(rng.integers(0, 3, 9)))), (levenshtein, (rng.integers(0, 3, 12), rng.integers(0, 3, 9))), (levels, (60,)), (pascal, (9,)),
    (not_always_moved, ([5, 6], 3)), (not_always_moved, ([5, 6], 101)), (changed_and_moved, ([5, 6], 3)), (exchanged_lists, (3,)), (exchanged_lists, (4,)),
]  # fmt: skip


@pytest.mark.parametrize("f, args", CARRIED, ids=lambda x: getattr(x, "__name__", ""))
@pytest.mark.parametrize("start", [1, 2, 5])
def test_lists_that_variables_stand_for_are_pythons(f, args, start, from_look):
    from_look(start)
    check(f, args)


@pytest.mark.parametrize("f, args", CARRIED[:4], ids=lambda x: getattr(x, "__name__", ""))
def test_no_loop_with_such_variables_stays_pythons(f, args, at_once, monkeypatch):
    check_compiled(f, args, monkeypatch)


def test_a_list_that_stays_is_the_same(at_once):
    given = [5, 6]
    assert plait.jit(anew(not_always_moved))(given, 3) is given


def test_a_list_grows_where_a_loop_begins_in_parts(at_once, monkeypatch):
    def popped(a, n):
        s = 0
        for _ in range(n):
            s = s * 3 + a.pop(1)
        return s

    monkeypatch.setattr(going_over, "PART", 0.0)
    for n in (5, 20):
        assert outcome(plait.jit(popped), (list(range(12)), n)) == outcome(popped, (list(range(12)), n))


def matched(prices):
    """Of heaps that are empty when the loop goes over."""
    asks, bids, volume = [], [], 0
    for k in range(len(prices)):
        if k % 2:
            while len(asks) > 0 and asks[0][0] <= prices[k]:
                level, other = asks[0]
                volume += level * other
                heapq.heappop(asks)
            heapq.heappush(bids, (-prices[k], k))
        else:
            if bids and -bids[0][0] >= prices[k] + 3:
                heapq.heappop(bids)
            heapq.heappush(asks, (prices[k], k))
    return asks, bids, volume


def never_filled(n):
    out, found = [], 0
    for i in range(n):
        if len(out) > 0:
            found += out[0][1]
        found += i
    return out, found


def read_of_nothing(n):
    out = []
    for i in range(n):
        if i == 7:
            out[0] += i
    return out


@pytest.mark.parametrize("f, args", [(matched, (rng.integers(0, 9, 60),)), (matched, ([*range(9)] * 5,)), (never_filled, (9,))], ids=["arrays", "lists", "never filled"])
def test_what_a_loop_reads_of_empty_lists_is_what_it_puts_there(f, args, at_once):
    jitted, expected = plait.jit(anew(f)), outcome(f, args)
    for _ in range(3):
        assert outcome(jitted, args) == expected
    codes = [code for loop in plait._jit.loops_of(jitted) for code in loop.codes.values()]
    assert sum(code.runs for code in codes) and not any(code.left for code in codes)


def test_nothing_is_there_to_be_read(at_once):
    check(read_of_nothing, (9,))


@pytest.mark.parametrize("values", [X, X.astype("f4"), X > 0.5, np.arange(40, dtype="u1"), np.array([2**63 + 5, 1, 2**64 - 1] * 12, "u8"), np.arange(40) - 20], ids=lambda x: x.dtype.name)
def test_elements_are_of_the_types_that_were_put_there_also_without_python(values, at_once):
    def f(x):
        singles, pairs = [], []
        for v in x:
            singles.append(v)
            pairs.append((v, (1, v)))
        return singles, pairs

    g = plait.jit(f)
    for _ in range(4):
        assert outcome(g, (values,)) == outcome(f, (values,))
