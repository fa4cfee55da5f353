"""Lists, sets and dicts that nobody has any more behind a loop are not given back; all others are."""

import heapq
import types
from heapq import heappop

import numpy as np
import pytest
from loop_checks import anew, outcome

import plait
from plait._python_loops import codes

KEYS = np.array([3, 1, 3, 2, 1, 7, 3])


def known_before(keys):
    seen = set()
    count = 0
    for k in keys:
        if k in seen:
            count += 1
        else:
            seen.add(k)
    return count


def last_of_stack(n):
    stack = [n]
    total = 0
    while len(stack) > 0:
        k = stack.pop()
        total += k
        if k > 1:
            stack.append(k - 1)
            stack.append(k // 2)
    return total


def counts_twice(keys):
    counts = {}
    total = 0
    for again in range(2):
        for k in keys:
            counts[k] = counts.get(k, 0) + 1
            total += counts[k]
    return total


def of_a_comprehension(keys):
    found = [k for k in range(2)]
    total = 0
    for k in keys:
        found.append(k + len(found))
        total += found[-2]
    return total


def smallest(keys):
    heap = []
    total = 0
    for k in keys:
        heapq.heappush(heap, (k, total))
        if len(heap) > 3:
            total += heappop(heap)[0]
    return total


@pytest.mark.parametrize("f, args", [(known_before, [KEYS]), (last_of_stack, [9]), (counts_twice, [KEYS]), (of_a_comprehension, [KEYS]), (smallest, [KEYS])], ids=lambda x: getattr(x, "__name__", ""))
def test_what_nobody_reads_is_not_given_back(f, args, at_once, monkeypatch):
    given = []
    monkeypatch.setattr(codes, "put_back", lambda *a: given.append(a))
    assert outcome(plait.jit(anew(f)), args) == outcome(f, args)
    assert not given


def returned(keys):
    seen = set()
    for k in keys:
        seen.add(k)
    return seen


def of_another_name(keys):
    seen = set()
    other = seen
    for k in keys:
        seen.add(k)
    return sorted(other)


def by_a_method(keys):
    found = []
    add = found.append
    for k in keys:
        found.append(k)
    add(5)
    return add.__self__


def by_a_view(keys):
    counts = {}
    items = counts.items()
    for k in keys:
        counts[k] = 1
    return sorted(items)


def within_another(keys):
    seen = set()
    held = {0: seen}
    for k in keys:
        seen.add(k)
    return held


def of_a_closure(keys):
    seen = set()

    def size():
        return len(seen)

    for k in keys:
        seen.add(k)
    return size()


def of_two_at_once(keys):
    a = b = []
    for k in keys:
        a.append(k)
    return b


def of_the_caller(keys, found):
    for k in keys:
        found.append(k)


def either(keys, found):
    if len(keys) > 100:
        found = []
    for k in keys:
        found.append(k)


def after_an_error(keys):
    seen = []
    try:
        for k in keys:
            seen.append(k)
            keys[len(seen) + 3]
    except IndexError:
        return seen


def of_a_pattern(keys, found):
    seen = []
    match found:
        case [*_] as seen:
            pass
    for k in keys:
        seen.append(k)
    return len(found)


ELSEWHERE = set()


def of_its_own(keys):
    set = lambda: ELSEWHERE  # noqa: E731
    ELSEWHERE.clear()
    seen = set()
    for k in keys:
        seen.add(k)
    return sorted(ELSEWHERE)


def of_its_own_heaps(keys):
    heapq = types.SimpleNamespace(heappush=lambda heap, k: (heap.append(k), KEPT.append(heap)))
    KEPT.clear()
    heap = []
    for k in keys:
        heapq.heappush(heap, k)
    return KEPT[-1]


KEPT = []
GIVEN_BACK = [
    (of_its_own_heaps, [KEYS]),
    (returned, [KEYS]), (of_another_name, [KEYS]), (by_a_method, [KEYS]), (by_a_view, [KEYS]), (within_another, [KEYS]), (of_a_closure, [KEYS]),
    (of_two_at_once, [KEYS]), (of_the_caller, [KEYS, [1]]), (either, [KEYS, []]), (after_an_error, [KEYS]), (of_a_pattern, [KEYS, []]), (of_its_own, [KEYS]),
]  # fmt: skip


@pytest.mark.parametrize("f, args", GIVEN_BACK, ids=lambda x: getattr(x, "__name__", ""))
def test_what_somebody_has_is_given_back(f, args, at_once):
    jitted, expected = plait.jit(anew(f)), outcome(f, args)
    for _ in range(2):
        assert outcome(jitted, args) == expected


@pytest.mark.parametrize("f, args", GIVEN_BACK, ids=lambda x: getattr(x, "__name__", ""))
def test_long_lists_that_somebody_has_are_given_back_without_python(f, args, at_once):
    args = [np.tile(args[0], 30), *args[1:]]
    jitted, expected = plait.jit(anew(f)), outcome(f, args)
    for _ in range(4):
        assert outcome(jitted, args) == expected


def last_of_many(n):
    found = list()
    for i in range(n):
        found.append(i)
    return n


def test_what_nobody_reads_is_given_back_where_somebody_else_makes_it(at_once):
    shared = []
    f = plait.jit(types.FunctionType(last_of_many.__code__, scope := {"range": range}))
    for _ in range(4):
        assert f(100) == 100
    scope["list"] = lambda: shared
    for k in range(1, 4):
        assert f(100) == 100 and shared == [*range(100)] * k


def mixed(n, every):
    found = []
    x = 0
    for i in range(n):
        if i % every == 0:
            x = x + np.float64(0.5)
        found.append(x)
    return found


@pytest.mark.parametrize("every", [1, 3, 100])
def test_numbers_of_several_types_go_back_as_what_they_are(every, at_once):
    assert outcome(plait.jit(anew(mixed)), [7, every]) == outcome(mixed, [7, every])
    assert [*map(type, plait.jit(anew(mixed))(7, every))] == [*map(type, mixed(7, every))]
