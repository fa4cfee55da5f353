"""What functions of NumPy's do with arrays of one axis, in Python: compiled where a loop calls those."""

import numpy as np

RUN = 16  # elements that are sorted by insertion


def _is_before(x, y):
    """NaN is behind all others."""
    return x < y or (y != y and x == x)


def sort(a):
    """Merges runs, which insertion has sorted."""
    n = len(a)
    for low in range(0, n, RUN):
        for i in range(low + 1, min(low + RUN, n)):
            x, j = a[i], i
            while j > low and _is_before(x, a[j - 1]):
                a[j] = a[j - 1]
                j -= 1
            a[j] = x
    if n <= RUN:
        return
    b, length = a.copy(), RUN
    while length < n:
        for low in range(0, n, 2 * length):
            i, j = low, min(low + length, n)
            middle, high = j, min(low + 2 * length, n)
            for k in range(low, high):
                if i < middle and (j >= high or not _is_before(a[j], a[i])):
                    b[k] = a[i]
                    i += 1
                else:
                    b[k] = a[j]
                    j += 1
        for k in range(n):
            a[k] = b[k]
        length *= 2


def unique(a):
    """Sorts it, and puts each element that differs from the one before in front: how many there are. NaN is one."""
    sort(a)
    n = 0
    for x in a:
        if n == 0 or not (x == a[n - 1] or (x != x and a[n - 1] != a[n - 1])):
            a[n] = x
            n += 1
    return n


def argsort(a):
    """The same of places. Equal elements stay in their order."""
    n = len(a)
    order = np.arange(n)
    for low in range(0, n, RUN):
        for i in range(low + 1, min(low + RUN, n)):
            at, j = order[i], i
            while j > low and _is_before(a[at], a[order[j - 1]]):
                order[j] = order[j - 1]
                j -= 1
            order[j] = at
    b, length = order.copy(), RUN
    while length < n:
        for low in range(0, n, 2 * length):
            i, j = low, min(low + length, n)
            middle, high = j, min(low + 2 * length, n)
            for k in range(low, high):
                if i < middle and (j >= high or not _is_before(a[order[j]], a[order[i]])):
                    b[k] = order[i]
                    i += 1
                else:
                    b[k] = order[j]
                    j += 1
        for k in range(n):
            order[k] = b[k]
        length *= 2
    return order


def left_of(a, x):
    low, high = 0, len(a)
    while low < high:
        middle = (low + high) // 2
        if _is_before(a[middle], x):
            low = middle + 1
        else:
            high = middle
    return np.int64(low)


def right_of(a, x):
    low, high = 0, len(a)
    while low < high:
        middle = (low + high) // 2
        if _is_before(x, a[middle]):
            high = middle
        else:
            low = middle + 1
    return np.int64(low)


def all_left_of(a, v):
    out = np.empty(len(v), np.int64)
    for i in range(len(v)):
        out[i] = left_of(a, v[i])
    return out


def all_right_of(a, v):
    out = np.empty(len(v), np.int64)
    for i in range(len(v)):
        out[i] = right_of(a, v[i])
    return out


def cumsum(a, out):
    if len(a) > 0:
        out[0] = a[0]
        last = out[0]
        for i in range(1, len(a)):
            last = last + a[i]
            out[i] = last
    return out


def cumprod(a, out):
    if len(a) > 0:
        out[0] = a[0]
        last = out[0]
        for i in range(1, len(a)):
            last = last * a[i]
            out[i] = last
    return out


def median(a):
    """Of floats, which it sorts."""
    n = len(a)
    if n == 0:
        raise NotImplementedError("np.median() of nothing in a compiled loop; plait.jit(loops=False) runs it")
    sort(a)
    if a[n - 1] != a[n - 1]:
        return a[n - 1]
    if n % 2 == 1:
        return a[n // 2]
    return (a[n // 2 - 1] + a[n // 2]) / 2


def quantile(a, q):
    """Between the two elements nearest to a part of all, of floats, which it sorts."""
    n = len(a)
    if n == 0:
        raise NotImplementedError("a quantile of nothing in a compiled loop; plait.jit(loops=False) runs it")
    sort(a)
    if a[n - 1] != a[n - 1]:
        return a[n - 1]
    at = (n - 1) * q
    if at >= n - 1:
        return a[n - 1]
    first = int(at)
    part, width = at - first, a[first + 1] - a[first]
    if part >= 0.5:
        return a[first + 1] - width * (1 - part)
    return a[first] + width * part


def var(a, ddof):
    n = len(a) - ddof
    if n <= 0:
        raise NotImplementedError("a variance of so few elements in a compiled loop; plait.jit(loops=False) runs it")
    d = a - a.mean()
    return np.sum(d * d) / n


def std(a, ddof):
    return np.sqrt(var(a, ddof))


def linspace(start, stop, num, endpoint):
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    out = np.empty(num)
    parts = num - 1 if endpoint else num
    width = stop - start
    step = width / parts if parts > 0 else 0.0
    for i in range(num):
        out[i] = i * width + start if parts <= 0 else i / parts * width + start if step == 0 else i * step + start
    if endpoint and num > 1:
        out[num - 1] = stop
    return out


FUNCTIONS = (
    sort, argsort, left_of, right_of, all_left_of, all_right_of, cumsum, cumprod, median, quantile, var, std, linspace, _is_before,
)  # fmt: skip
