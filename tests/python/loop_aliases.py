"""Functions whose loops have several names for one array or list, or change what an expression has read."""

import collections
import math
from contextlib import suppress

import numpy as np

A = np.array


def chain(a, c, b, n):
    for i in range(n):
        a = c = b
        b = a + 1.0
    return (a, c, b)


def chainlist(a, c, b, n):
    for i in range(n):
        a = c = b
        b = [i, i + 1]
    return (a, c, b)


def tupalias(x, n):
    s = 0.0
    for i in range(n):
        x = x + 1
        t = (x, 1.0)
        for j in range(3):
            x = x * 2
        s += t[0][0]
    return (s, x)


def isnew(x, n):
    for i in range(n):
        if i % 2:
            x = [1]
        else:
            x.append(i)
    return x


def isnew2(x, n):
    for i in range(n):
        if i > 0:
            x = [1, i]
        else:
            x.append(i)
    return x


def exbranch(a, b, n):
    s = 0.0
    for i in range(n):
        a = a + 1
        t = a
        if i % 2:
            a = b
        for j in range(2):
            a = a + 1
        s += t[0]
        b = a * 3
    return (s, a, b)


def augpop(n):
    x = [1, 2, 3]
    s = 0
    for i in range(n):
        x = [1, 2, 3]
        x[-1] += x.pop()
        s += x[0] * 100 + x[1] * 10 + len(x)
    return s


def augpop1(n):
    s = 0
    for i in range(n):
        x = [1]
        x[0] += x.pop()
        s += len(x)
    return s


def moveid(a, b, n):
    for i in range(n):
        a = b
        b = [i, i + 1]
    a.append(99)
    return (a, b)


def transp(x, n):
    for i in range(n):
        x = x * 1.5
        x = x.T
    return x


def transp2(x, n):
    for i in range(n):
        x = x * 1.5
        x = x[1:].T
        x = np.zeros((3, 3)) + x[0, 0]
    return x


def iterre(x, n):
    s = 0
    for i in range(n):
        for v in x:
            x = [v + 1, v + 2]
            s += v
    return (s, x)


def iterarr(x, n):
    s = 0.0
    for i in range(n):
        x = x + 1
        for v in x:
            x = x * 2
            s += v
    return (s, x)


def bump(a):
    a[0] += 1.0
    return a[0]


def lazy(a, n):
    s = 0.0
    for i in range(n):
        y = a * 2 + bump(a)
        s += y[0]
    return s


def lazytup(a, n):
    s = 0.0
    for i in range(n):
        y, z = (a * 2, bump(a))
        s += y[0]
    return s


def npcopy(a, n):
    for i in range(n):
        y = np.array(a, copy=False)
        y[0] += 1
    return a


def npcopy2(a, n):
    for i in range(n):
        y = np.array(a, copy=None)
        y[0] += 1
    return a


def emptyarr(n, m):
    s = 0
    for i in range(n):
        x = []
        if i < m:
            x.append(1)
        y = np.array(x)
        s = y.sum()
    return s


def live1(n):
    v = 7
    for i in range(n):
        v = i * 2
    y = [0 for v in range(3)]
    return v


def live2(n, c):
    v = 7
    for i in range(n):
        v = i * 2
    y = c and (v := 3)
    return v


def live3(n, c):
    v = 7
    for i in range(n):
        v = i * 2
    y = 0 if c else (v := 3)
    return (v, y)


def partarr(out, a, n):
    x = a
    for i in range(n):
        out[i] = i
        if i == 0:
            x = a + 1.0
    return x


def partlist(out, a, n):
    x = [0]
    for i in range(n):
        out[i] = i
        if i == 0:
            x = [5, 6]
    return x


def supp(a, n):
    s = 0.0
    with suppress(IndexError):
        for i in range(n):
            s += a[i]
    return (s, i)


def newtype(n):
    for i in range(n):
        x = np.zeros(3)
        x[0] = i
    return x


def lazygen(n):
    k = 1
    gen = (v * k for v in [1, 2, 3])
    for i in range(n):
        k = i * 2
    return sum(gen)


def closelive(a, b, n):
    s = 0.0

    def h():
        return b[0]

    for i in range(n):
        a = b
        s += h()
        b = a * 2
    return (s, a, b)


def two(n):
    s = 0
    for i in range(n):
        a = b = [1, 2]
        a.append(3)
        s += len(b)
    return s


def twov(x, n):
    s = 0.0
    for i in range(n):
        a = b = x * 2
        a[0] = 100.0
        s += b[0]
    return s


def tupl(n):
    s = 0
    for i in range(n):
        t = ([1], 2)
        y = t[0]
        y.append(3)
        z = t[0]
        s += len(z)
    return s


def g1_2(p):
    q = p
    q.append(1)
    return len(p)


def lparam(n):
    s = 0
    for i in range(n):
        s += g1_2([1, 2])
    return s


def g2_2(p, a):
    a[0] = 100.0
    return p[0]


def vparam(a, n):
    s = 0.0
    for i in range(n):
        s += g2_2(a * 2, a)
    return s


def g3_2(p):
    q = p
    q[0] = 100.0
    return p[0]


def vparam2(a, n):
    s = 0.0
    for i in range(n):
        s += g3_2(a * 2)
    return s


def drebind(d, n):
    s = 0
    for i in range(n):
        d[i] = 1
        s += len(d)
        if i % 3 == 2:
            d = {}
    return s


def drebind2(d, n):
    s = 0
    for i in range(n):
        if i == 3:
            d = {}
        d[i] = 1
        s += len(d)
    return s


def emptycomp(n, x):
    s = 0
    for i in range(n):
        d = {}
        y = [d[k] for k in x]
        s += len(y)
    return s


def emptysum(n, x):
    s = 0
    for i in range(n):
        d = {}
        s += sum(d.values())
        if 5 in d:
            s += d[5]
        for k in d:
            s += k
        if d and d[3] > 2:
            s += 1
        if n > 2 and d[3] > 2:
            s += 1
    return s


def tupexit(x, y, n):
    s = 0.0
    for i in range(n):
        t = (x, 2)
        x = y
        y = x * 2
        y = y * 3
        s += t[0][0]
    return (s, x, y)


def swaptup(x, n):
    s = 0.0
    for i in range(n):
        y = x + 1
        t = (y, 2)
        x = y
        for j in range(3):
            x = x * 2
            s += t[0][0]
    return (s, x)


def dictpop(d, n):
    s = 0
    for i in range(n):
        d[i % 3] = d.get(i % 3, 0) + 1
        if i % 4 == 3:
            s += d.pop(i % 3)
        d[i % 2] += d.pop(i % 2, 7) if False else 1
    return (s, d)


def augd(d, n):
    for i in range(n):
        d[0] += d.pop(0)
    return d


def nestmod(n):
    s = 0
    d = {}
    for i in range(n):
        d[i] = i
        for k in d:
            for j in range(2):
                d[k] += j
        s += d[i]
    return (s, d)


def carr0(x, n):
    for i in range(n):
        x = x * 2
    return x


def mv_2(x, n):
    s = 0.0
    for i in range(n):
        x = x + 1
        v = x[1:]
        for j in range(3):
            x = x * 2
        s += v[0]
    return (s, x)


def augnp(x, n):
    for i in range(n):
        y = x
        x = x + 1
        y += 5
    return x


def fnret(x):
    return (x, x[0])


def inlret(x, n):
    s = 0.0
    for i in range(n):
        x = x + 1
        y, z = fnret(x)
        for j in range(2):
            x = x * 2
        s += y[0]
    return (s, x)


def whileset(n):
    x = [0]
    i = 0
    while i < n:
        i += 1
        if i == 2:
            x = [i]
            continue
        x.append(i)
    return x


def whileset2(x, n):
    i = 0
    while i < n:
        i += 1
        if i == 3:
            x = [i]
            break
        x.append(i)
    else:
        x.append(100)
    return x


def cond2(x, n):
    for i in range(n):
        y = x
        if i % 2:
            x = [5]
        elif i > 3:
            x = [1]
        else:
            y.append(1)
    return x


def rowlist(x, n):
    s = 0.0
    for i in range(n):
        for r in x:
            x = x + 1
            s += r[0]
    return s


def elemput(x, n):
    for i in range(n):
        x[0] = i + 100
        x = [i, i + 1]
    return x


def elemput2(x, n):
    for i in range(n):
        x[0] += 100
        if i == 1:
            x = [i, i + 1]
    return x


def raisex(x, n):
    for i in range(n):
        x[i % 3] = i
        if i == 4:
            raise ValueError(i, x[0])
    return x


def listerr(x, d, n):
    for i in range(n):
        x.append(i)
        d[i] = i
        if x[i] > 5:
            raise KeyError(i)
    return x


def defd(d, n):
    s = 0
    for i in range(n):
        s += d[i % 4]
        if i % 3 == 0:
            d[i] += 1
    return (s, d)


def lam(x, n):
    y = 0
    for i in range(n):
        y = x[i % 3] + i
    f = lambda: y
    return f()


def rowtup(a, n):
    s = 0.0
    for i in range(n):
        p = (a[0], a[1])
        a[0] = a[1]
        a[1] = p[0]
        s += a[1][0]
    return s


def nondet(x, n):
    for i in range(n):
        x = x - x.mean()
        y = x
        x = y * 2
    return (x, y)


def accpair(x, n):
    best = x
    m = -1e300
    for i in range(n):
        x = x * 0.5 + i
        if x[0] > m:
            m = x[0]
            best = x
    return (best, x, m)


def bestcopy(x, n):
    best = x.copy()
    m = -1e300
    for i in range(n):
        x[0] = i * 7 % 5
        if x[0] > m:
            m = x[0]
            best = x
    return (best, x, m, best is x)


def retrow(M, n):
    for i in range(n):
        r = M[i % 3]
        r[0] += 1
    return (r, M)


def retmade(n):
    for i in range(n):
        M = np.zeros((3, 3))
        r = M[i % 3]
        r[0] += 1
    M[2, 2] = 7
    M[:] = 9
    return (r, M)


def mixed(x, n):
    for i in range(n):
        x.append(1.5) if i % 2 else x.append(i)
    return x


def neg(x, n):
    for i in range(n):
        x.insert(-1, i)
        x.insert(100, i)
        x.pop(0)
    return x


def strides(M, n):
    x = M
    for i in range(n):
        x = x[:, ::2]
        x = np.concatenate([x, x], axis=1) if False else x + 0
        x = x * 1
    return x


def seltr(M, n):
    x = M
    for i in range(n):
        x = x.T
    return x


def carryview(x, n):
    for i in range(n):
        x = x * 2
        x = x[1:]
    return x


def tk_4(n):
    s = 0
    c = collections.Counter()
    for i in range(n):
        c[i % 3, i % 2] += 1
        c[i % 2, 0] += 2
    for i in range(n):
        s += c[i, i]
    return (s, dict(c))


def retd(n):
    for i in range(n):
        d = {}
        d[i] = 1
        s = len(d)
    return s


def closelive_5(a, b, n):
    s = 0.0

    def h():
        return b[0]

    for i in range(n):
        s += a[0]
        a = b
        s += h()
        b = a * 2
    return (s, a, b)


def chainsite(x, n):
    s = 0.0
    for i in range(n):
        x = y = np.zeros(3)
        x[0] = i
        for j in range(3):
            x = x + 1
        s += y[0] * 10
    return (s, x)


def chainsite2(x, n):
    s = 0.0
    for i in range(n):
        x = y = np.zeros(4)
        for j in range(4):
            x[j] = j
        x[1:] = y[:-1]
        s += x[3]
    return (s, x)


def walrus(x, n):
    s = 0.0
    for i in range(n):
        z = (x := (x * 2))
        z[0] = 5.0
        s += x[0]
    return (s, x)


def swapview(a, b, n):
    s = 0.0
    for i in range(n):
        t = a
        a, b = (b, a)
        for j in range(3):
            b = b + 1
        s += t[0]
    return (s, a, b)


def exbranch2(a, b, n):
    s = 0.0
    for i in range(n):
        a = a + 1
        while True:
            t = a
            if i % 2:
                a = b
            for j in range(3):
                a = a + 1
            s += t[0]
            break
        b = a * 3
    return (s, a, b)


def inplace(x, n):
    for i in range(n):
        x[0] += 1
        x += 1
        x = x * 2
    return x


def sitemulti(a, n):
    s = 0.0
    for i in range(n):
        u = [a + k for k in (1, 2)] if False else 0
        p, q = (np.zeros(2), np.ones(2))
        r = p
        p = q
        q = r
        q[0] = 9
        s += r[0] + p[0]
    return s


def inner(n):
    s = 0
    for i in range(n):
        x = [1, 2]
        x.extend(x)
        x.extend([len(x)])
        y = x
        y.append(5)
        z = x.copy()
        z.append(1)
        s += len(x) * 10 + len(z) + sum(y)
    return s


def popcond(x, n):
    s = 0
    for i in range(n):
        if x and x.pop() > 1 and (x[-1] > 0):
            s += 1
        s += x[0] if len(x) > 3 else len(x)
    return (s, x)


def dview(d, n):
    s = 0
    for i in range(n):
        k = d.keys()
        d[i] = i
        s += len(k)
        for q in k:
            s += q
    return s


def dget(d, n):
    for i in range(n):
        d[i % 3] = d.get(i, i + 0.5)
    return d


def dtup(d, n):
    for i in range(n):
        a, b = d.get(i % 2, (0, 0))
        d[i % 2] = (a + 1, b + i)
    return d


def lsttup(x, n):
    for i in range(n):
        a, b = x[i % 2]
        x[i % 2] = (b, a)
        x.append((a, i))
    return x


def boolkeys(d, n):
    for i in range(n):
        d[i > 2] = i
        d[i] = True
    return d


def setcomp(n):
    s = 0
    for i in range(n):
        t = {j % 3 for j in range(i)}
        u = t
        u.add(50)
        s += len(t) + max(t)
    return s


def floatkey(x, n):
    s = 0
    for i in range(n):
        x.append(i if i % 2 else i * 1.0)
        s += x[-1]
    return (s, x)


def bigint(x, n):
    for i in range(n):
        x.append(2**60 + i)
        if i == 3:
            x.append(0.5)
    return x


def ret_in_for(x, n):
    for i in range(n):
        for v in x:
            if v > i:
                x = [i, i]
                break
        else:
            x = [9, 9]
    return x


def tupparam(a, n):
    s = 0.0
    for i in range(n):
        p = (a, i)
        a = a + 1
        q, _ = p
        for j in range(2):
            a = a + 1
        s += q[0]
    return (s, a)


def delarr(a, n):
    s = 0.0
    for i in range(n):
        b = a
        a = a * 2
        s += a[0]
    return (s, a)


def delarr2(a, n):
    s = 0.0
    b = a
    for i in range(n):
        b = a
        a = a * 2
        s += b[0]
    return (s, a, b)


def lagged(a, n):
    p = a
    q = a
    for i in range(n):
        q = p
        p = a
        a = a * 2 + p
    return (a, p, q)


def mk_8(k):
    m = k * 2
    return [m, m + 1]


def mkv(x, k):
    m = k * 2.0
    return x * m


def summk(n):
    s = 0
    for i in range(n):
        s += sum(mk_8(i))
    return s


def summk2(n):
    s = 0
    for i in range(n):
        k = i
        s += max(mk_8(k)) + sum(mk_8(k + 1))
    return s


def sumv(x, n):
    s = 0.0
    for i in range(n):
        s += sum(mkv(x, i))
    return s


def moveid_8(a, b, n):
    s = 0
    for i in range(n):
        s += len(a)
        a = b
        b = [i, i + 1]
    a.append(99)
    return (s, a, b)


def swapl(a, b, n):
    s = 0
    for i in range(n):
        s += a[0]
        t = b[0]
        a = b
        b = [i, i + 1]
    a[0] = 50
    return (s, a, b)


def popsum(x, n):
    s = 0
    for i in range(n):
        s += sum([x.pop(), x[0]])
        x.append(i)
        x.append(1)
    return (s, x)


def dr_8(d, n):
    s = 0
    for i in range(n):
        s += max([d[i % 2], d.pop(7, 1)])
        d[7] = i
    return (s, d)


def it_site(n):
    s = 0.0
    x = np.zeros(3)
    for i in range(n):
        for r in np.ones((3, 2)) * i:
            r2 = r + 1
            s += r2[0] * r[1]
    return s


def defit(n):
    s = 0
    d = collections.defaultdict(int)
    for i in range(n):
        d[i] += 1
        for k, v in d.items():
            s += k * v
            if k == 2:
                d[k] = v + 1
    return s


def addk(d, n):
    s = 0
    for i in range(n):
        for k in d:
            d[k] = d[k] + i
            for k2 in d:
                s += d[k2]
    return (s, d)


def own(n):
    c = 0
    for i in range(n):
        s = set()
        for j in range(i):
            s.add(j)
            s.discard(j - 1)
        c += len(s) + (5 in s)
    return c


def churn(n):
    d = {}
    c = 0
    for i in range(n):
        d[i] = i * 2
        if i >= 5:
            c += d.pop(i - 5)
            del d[i - 1]
            d[i - 1] = 7
    t = 0
    for k in d:
        t += k
    return (c, t, len(d))


def churn2(d, n):
    for i in range(n):
        d[i] = i * 2
        if i >= 5:
            d.pop(i - 5)
            del d[i - 1]
            d[i - 1] = 7
            for k in d:
                d[k] += 1
    return d


def unb(n, c):
    for i in range(n):
        if c > i:
            x = np.zeros(2)
        x[0] += i
    return x


def mk3(k):
    m = k * 2
    r = [m]
    r.append(m + 1)
    return r


def summk3(n):
    s = 0
    for i in range(n):
        s += sum(mk3(i)) + max(mk3(i + 1))
    return s


def chainl(a, b, c, n):
    s = 0
    for i in range(n):
        s += a[0] + c[0]
        a = c = b
        b = [i, i + 1]
    return (s, a, b, c)


def twoc(a, b, n):
    s = 0
    for i in range(n):
        s += a[0] + b[0]
        a = b = [i, i + 1]
        a.append(3)
        s += len(b)
    return (s, a, b)


def lztup(x, n):
    s = 0.0
    for i in range(n):
        p = (x * 2, x[0])
        x[0] += 1
        s += p[0][0]
    return s


def lzcmp(x, n):
    s = 0.0
    for i in range(n):
        s += np.sum(x * 2 - b2_9(x))
    return s


def b2_9(x):
    x[0] += 10
    return x[0]


def dotl(x, n):
    s = 0.0
    for i in range(n):
        s += np.dot(x * 2, b3_9(x))
    return s


def b3_9(x):
    x[0] += 10
    return x


def lzidx(x, y, n):
    for i in range(n):
        y[b4_9(x)] = x * 2
    return y


def b4_9(x):
    x[1] += 10
    return 0


def liststore(x, n):
    s = 0
    for i in range(n):
        x[fi_9(x)] = x[0] + 1
        s += x[0]
    return (s, x)


def fi_9(x):
    x.append(3)
    return 0


def augidx(x, n):
    for i in range(n):
        x[0] += grow(x)
    return x


def grow(x):
    x.insert(0, 5)
    return 1


def iterchg(x, n):
    s = 0
    for i in range(n):
        for v in x:
            y = x
            y[0] = v + 1
            s += v
    return (s, x)


def tupconst(n):
    s = 0
    for i in range(n):
        for a, b in ((1, 2.0), (3, 4)):
            s += a * b
    return s


def carrynest(x, n):
    for i in range(n):
        for j in range(2):
            k = x * 0.5
            x = x + k
    return (x, k)


def walk(x, n):
    i = 0
    while i < n and x[0] < 50:
        y = x * 2
        x = y
        i += 1
    return (x, y, i)


def walk2(x, n):
    i = 0
    while i < n:
        y = x * 2
        x = y
        y[0] = 1
        i += 1
    return (x, y, i, x is y)


def condset(x, n, c):
    for i in range(n):
        if i >= c:
            y = x * 2
        x = x + 1
    return y


def cond_list(x, n):
    for i in range(n):
        if i % 2:
            y = x
        else:
            y = [0]
        x = [i]
    return (y, x)


def errstate(x, n):
    y = x
    for i in range(n):
        x = x * 2
        y = x[3]
    return x


def twoloops(x, n):
    for i in range(n):
        x = x + 1
        for j in range(n):
            if j == 1:
                continue
            if j > 2:
                break
            x = x * 1.5
        else:
            x = x - 1
    return x


def fn_carry(x):
    for k in range(3):
        x = x * 2
    return x


def inlcarry(x, n):
    s = 0.0
    for i in range(n):
        y = fn_carry(x)
        s += y[0]
    return s


def dtypech(x, n):
    for i in range(n):
        x = x / 2
    return x


def euler(y, n, h):
    out = []
    t = 0.0
    for i in range(n):
        k1 = -y
        k2 = -(y + h * k1 / 2)
        y = y + h * k2
        t += h
        out.append((t, y[0]))
    return (y, out)


def fib(n):
    a = np.array([1, 1])
    b = np.array([1, 2])
    for i in range(n):
        a, b = (b, a + b)
    return (a, b)


def fib3(n):
    a = np.array([1, 1])
    b = np.array([1, 2])
    c = np.array([3, 3])
    for i in range(n):
        a, b, c = (b, c, a + b)
    return (a, b, c)


def rot(a, b, c, n):
    for i in range(n):
        a, b, c = (c, a, b)
    a[0] = -1
    return (a, b, c)


def rotl(a, b, c, n):
    for i in range(n):
        a, b, c = (c, a, b)
    a[0] = -1
    return (a, b, c)


def buf(u, n):
    v = u.copy()
    for i in range(n):
        for j in range(1, len(u) - 1):
            v[j] = u[j - 1] + u[j + 1]
        u, v = (v, u)
    return (u, v)


def buf2(u, n):
    v = np.zeros(len(u))
    for i in range(n):
        v[1:-1] = u[:-2] + u[2:]
        w = u
        u = v
        v = w
    return (u, v)


def sameab(a, b, n):
    for i in range(n):
        a, b = (b, a)
        a[0] += 1
    return (a, b)


def prevcur(x, n):
    prev = x
    d = 0.0
    for i in range(n):
        cur = prev * 0.5 + 1
        d = abs(cur - prev).max() if False else (cur - prev).sum()
        prev = cur
    return (prev, d)


def prevcur2(x, n):
    prev = x
    cur = x
    for i in range(n):
        prev = cur
        cur = cur * 0.5
        if cur[0] < 0.2:
            break
    return (prev, cur)


def hist(x, n):
    best = x
    for i in range(n):
        x = x + (-1) ** i
        if x.sum() > best.sum():
            best = x
    x[0] = 100
    return (best, x)


def ifx(x, y, n):
    for i in range(n):
        if i % 2:
            x = y
        else:
            x = x + 1
        y = y * 2
    return (x, y)


def wave(u0, u, n):
    for i in range(n):
        u0, u = (u, 2 * u - u0)
    return (u0, u)


def shift(a, b, c, n):
    for i in range(n):
        a = a + 1
        a, c = (b, a)
    return (a, b, c)


def part(a, b, n):
    for i in range(n):
        a = a * 1.0
        a, b = (a[1:], a[:-1])
    return (a, b)


def part2(a, b, n):
    for i in range(n):
        a = a * 2
        b = b * 3
        a, b = (b[:], a[:])
    return (a, b)


def cg_12(x, r, p, n):
    for i in range(n):
        al = np.dot(r, r) / np.dot(p, p)
        x = x + al * p
        rn = r - al * p * 0.5
        be = np.dot(rn, rn) / np.dot(r, r)
        p = rn + be * p
        r = rn
    return (x, r, p)


def inpl(a, b, n):
    for i in range(n):
        a, b = (b, a * 2)
        a[0] += 1
    return (a, b)


def trip(a, b, n):
    s = 0.0
    for i in range(n):
        a, b, s = (b, a + b, s + a[0])
    return (a, b, s)


def local2(x, n):
    s = 0.0
    for i in range(n):
        y = x + i
        z = x - i
        y, z = (z, y + z)
        s += y[0] * z[1]
    return s


def setparts(x, n):
    s = 0.0
    for i in range(n):
        y = x * 1.0
        y[0], z = (5.0, y * 2)
        s += z[0]
        y[1:], w = (y[:-1], y * 3)
        s += w[1] + y[2]
    return s


def rowswap(M, n):
    for i in range(n):
        M[0], M[1] = (M[1], M[0] * 2)
    return M


def rowswap2(M, n):
    for i in range(n):
        M[0], M[1] = (M[1] * 1, M[0] * 2)
    return M


def tt_13(x, n):
    s = 0.0
    for i in range(n):
        t = (x * 2, x * 3)
        s += t[0][0]
    return s


def g_13(x):
    return (x * 2, x * 3)


def rr_13(x, n):
    s = 0.0
    for i in range(n):
        a, b = g_13(x)
        s += a[0]
    return s


def g0_13(x, c):
    if c:
        return x * 2
    return x * 3


def two_calls(x, n):
    s = 0.0
    for i in range(n):
        a = g0_13(x, i % 2)
        b = g0_13(x, 1)
        s += a[0] * 10 + b[0]
    return s


def cmpd(x, n):
    s = 0.0
    for i in range(n):
        for p, q in zip(x * 2, x * 3):
            s += p - q
    return s


def cmpd2(x, n):
    s = 0.0
    for i in range(n):
        for p in (x * 2)[0:2]:
            s += p
        y = (x * 2)[1:] + (x * 3)[1:]
        s += y[0]
        z = (x * 2).T.T + (x * 3).T
        s += z[0]
    return s


def lst(n):
    s = 0
    for i in range(n):
        a, b = ([1], [2])
        a.append(3)
        s += len(b) * 10 + len(a)
    return s


def lst2(n):
    s = 0
    for i in range(n):
        a, b = ([i] * 2, [2] * 3)
        t = ([i] * 2, [7] * 4)
        a.append(3)
        s += len(b) * 10 + len(a)
    return s


def gl_13(i):
    return ([i], [i, i + 1])


def lst3(n):
    s = 0
    for i in range(n):
        a, b = gl_13(i)
        a.append(3)
        s += len(b) * 10 + len(a) + sum(b)
    return s


def gl2(i):
    a = [i]
    b = [i, i + 1]
    return (a, b)


def lst4(n):
    s = 0
    for i in range(n):
        a, b = gl2(i)
        a.append(3)
        s += len(b) * 10 + len(a) + sum(b)
    return s


def cross(x, n):
    s = 0.0
    for i in range(n):
        a, b = (np.cross(x, x * 2 + 1), np.cross(x, x * 3 + 2))
        s += a[0] + b[1]
    return s


def put2(x, n):
    s = 0.0
    for i in range(n):
        x[1:] = x[:-1] * 2
        x[:-1] += x[1:] * 0.5
        s += x.sum()
    return x


def arrl(x, n):
    s = 0.0
    for i in range(n):
        M = np.array([x[0], x[1]])
        N = np.array([[x[0], x[1]], [1.0, 2.0]])
        s += M[0] + N[1, 0]
    return s


CASES = [
    (chain, (A([1.0, 2.0, 3.0], "f8"), A([2.0, 4.0, 6.0], "f8"), A([3.0, 6.0, 9.0], "f8"), 4)),
    (chainlist, ([1], [2], [3], 4)),
    (tupalias, (A([1.0, 2.0, 3.0], "f8"), 4)),
    (isnew, ([7], 3)),
    (isnew, ([7], 1)),
    (isnew2, ([7], 3)),
    (exbranch, (A([1.0, 2.0, 3.0], "f8"), A([2.0, 4.0, 6.0], "f8"), 5)),
    (augpop, (3,)),
    (augpop1, (3,)),
    (moveid, ([1], [2], 1)),
    (transp, (A([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0]], "f8"), 5)),
    (transp2, (A([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0]], "f8"), 5)),
    (iterre, ([1, 2, 3], 2)),
    (iterarr, (A([1.0, 2.0, 3.0], "f8"), 2)),
    (lazy, (A([1.0, 2.0, 3.0], "f8"), 2)),
    (lazytup, (A([1.0, 2.0, 3.0], "f8"), 2)),
    (npcopy, (A([1.0, 2.0, 3.0], "f8"), 2)),
    (npcopy2, (A([1.0, 2.0, 3.0], "f8"), 2)),
    (emptyarr, (3, 1)),
    (live1, (3,)),
    (live2, (3, 0)),
    (live3, (3, 1)),
    (
        partarr,
        (
            A(
                [
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                ],
                "f8",
            ),
            A([1.0, 2.0, 3.0], "f8"),
            100,
        ),
    ),
    (
        partlist,
        (
            A(
                [
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                ],
                "f8",
            ),
            A([1.0, 2.0, 3.0], "f8"),
            100,
        ),
    ),
    (supp, (A([1.0, 2.0, 3.0], "f8"), 10)),
    (newtype, (10,)),
    (lazygen, (3,)),
    (closelive, (A([1.0, 2.0, 3.0], "f8"), A([2.0, 4.0, 6.0], "f8"), 3)),
    (two, (3,)),
    (twov, (A([1.0, 2.0, 3.0], "f8"), 3)),
    (tupl, (3,)),
    (lparam, (3,)),
    (vparam, (A([1.0, 2.0, 3.0], "f8"), 3)),
    (vparam2, (A([1.0, 2.0, 3.0], "f8"), 3)),
    (drebind, ({9: 9}, 7)),
    (drebind2, ({9: 9}, 7)),
    (emptycomp, (3, [1, 2])),
    (emptycomp, (3, [])),
    (emptysum, (2, [1, 2])),
    (emptysum, (3, [1, 2])),
    (tupexit, (A([1.0, 2.0, 3.0], "f8"), A([3.0, 6.0, 9.0], "f8"), 4)),
    (swaptup, (A([1.0, 2.0, 3.0], "f8"), 4)),
    (dictpop, ({0: 1, 1: 1, 2: 1}, 10)),
    (augd, ({0: 1, 1: 1}, 3)),
    (nestmod, (5,)),
    (carr0, (A([], "f8"), 5)),
    (carr0, (A([], "f8"), 5)),
    (carr0, (A([1.0, 2.0, 3.0], "f8"), 0)),
    (mv_2, (A([1.0, 2.0, 3.0], "f8"), 5)),
    (augnp, (A([1.0, 2.0, 3.0], "f8"), 3)),
    (inlret, (A([1.0, 2.0, 3.0], "f8"), 3)),
    (whileset, (5,)),
    (whileset2, ([1], 5)),
    (whileset2, ([1], 2)),
    (cond2, ([1], 6)),
    (rowlist, (A([[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]], "f8"), 3)),
    (elemput, ([7, 8], 3)),
    (elemput2, ([7, 8], 3)),
    (raisex, ([1, 2, 3], 9)),
    (listerr, ([], {}, 9)),
    (defd, ({1: 5}, 9)),
    (lam, ([1, 2, 3], 4)),
    (rowtup, (A([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0]], "f8"), 3)),
    (nondet, (A([1.0, 2.0, 3.0], "f8"), 3)),
    (accpair, (A([1.0, 2.0, 3.0], "f8"), 5)),
    (bestcopy, (A([1.0, 2.0, 3.0], "f8"), 5)),
    (retrow, (A([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]], "f8"), 5)),
    (retmade, (4,)),
    (mixed, ([], 5)),
    (mixed, ([1.0], 5)),
    (neg, ([5, 6], 5)),
    (
        strides,
        (
            A(
                [
                    [
                        0.0,
                        1.0,
                        2.0,
                        3.0,
                        4.0,
                        5.0,
                        6.0,
                        7.0,
                        8.0,
                        9.0,
                        10.0,
                        11.0,
                        12.0,
                        13.0,
                        14.0,
                        15.0,
                        16.0,
                        17.0,
                        18.0,
                        19.0,
                        20.0,
                        21.0,
                        22.0,
                        23.0,
                        24.0,
                        25.0,
                        26.0,
                        27.0,
                        28.0,
                        29.0,
                        30.0,
                        31.0,
                    ],
                    [
                        32.0,
                        33.0,
                        34.0,
                        35.0,
                        36.0,
                        37.0,
                        38.0,
                        39.0,
                        40.0,
                        41.0,
                        42.0,
                        43.0,
                        44.0,
                        45.0,
                        46.0,
                        47.0,
                        48.0,
                        49.0,
                        50.0,
                        51.0,
                        52.0,
                        53.0,
                        54.0,
                        55.0,
                        56.0,
                        57.0,
                        58.0,
                        59.0,
                        60.0,
                        61.0,
                        62.0,
                        63.0,
                    ],
                ],
                "f8",
            ),
            4,
        ),
    ),
    (seltr, (A([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], "f8"), 3)),
    (carryview, (A([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], "f8"), 4)),
    (tk_4, (6,)),
    (retd, (4,)),
    (closelive_5, (A([1.0, 2.0, 3.0], "f8"), A([2.0, 4.0, 6.0], "f8"), 3)),
    (chainsite, (A([1.0, 2.0, 3.0], "f8"), 4)),
    (chainsite2, (A([1.0, 2.0, 3.0], "f8"), 4)),
    (walrus, (A([1.0, 2.0, 3.0], "f8"), 4)),
    (swapview, (A([1.0, 2.0, 3.0], "f8"), A([2.0, 4.0, 6.0], "f8"), 4)),
    (exbranch2, (A([1.0, 2.0, 3.0], "f8"), A([2.0, 4.0, 6.0], "f8"), 5)),
    (inplace, (A([1.0, 2.0, 3.0], "f8"), 4)),
    (sitemulti, (A([1.0, 2.0, 3.0], "f8"), 4)),
    (inner, (4,)),
    (popcond, ([1, 2, 0, 3, 4, 5, 6], 5)),
    (popcond, ([1, 2, 0, 3], 9)),
    (dview, ({5: 5}, 4)),
    (dget, ({5: 5}, 4)),
    (dget, ({5: 5.5}, 4)),
    (dtup, ({5: (1, 2)}, 4)),
    (lsttup, ([(1, 2), (3, 4)], 5)),
    (boolkeys, ({5: 1}, 6)),
    (boolkeys, ({}, 6)),
    (setcomp, (5,)),
    (floatkey, ([], 6)),
    (floatkey, ([1], 6)),
    (ret_in_for, ([1, 2, 3], 6)),
    (tupparam, (A([1.0, 2.0, 3.0], "f8"), 4)),
    (delarr, (A([1.0, 2.0, 3.0], "f8"), 4)),
    (delarr2, (A([1.0, 2.0, 3.0], "f8"), 4)),
    (lagged, (A([1.0, 2.0, 3.0], "f8"), 4)),
    (summk, (4,)),
    (summk2, (4,)),
    (sumv, (A([1.0, 2.0, 3.0], "f8"), 4)),
    (moveid_8, ([1], [2], 1)),
    (swapl, ([1], [2], 1)),
    (popsum, ([1, 2, 3], 4)),
    (dr_8, ({0: 1, 1: 2}, 4)),
    (it_site, (4,)),
    (defit, (5,)),
    (addk, ({1: 1, 2: 2}, 3)),
    (own, (8,)),
    (churn, (40,)),
    (churn2, ({1: 1, 50: 2}, 40)),
    (unb, (4, 1)),
    (unb, (4, 0)),
    (summk3, (4,)),
    (chainl, ([1], [2], [3], 3)),
    (twoc, ([1], [2], 3)),
    (lztup, (A([1.0, 2.0, 3.0], "f8"), 3)),
    (lzcmp, (A([1.0, 2.0, 3.0], "f8"), 3)),
    (dotl, (A([1.0, 2.0, 3.0], "f8"), 3)),
    (lzidx, (A([1.0, 2.0, 3.0], "f8"), A([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]], "f8"), 3)),
    (liststore, ([1, 2], 3)),
    (augidx, ([1, 2], 3)),
    (iterchg, ([1, 2], 3)),
    (tupconst, (3,)),
    (carrynest, (A([1.0, 2.0, 3.0], "f8"), 3)),
    (walk, (A([1.0, 2.0, 3.0], "f8"), 9)),
    (walk2, (A([1.0, 2.0, 3.0], "f8"), 3)),
    (condset, (A([1.0, 2.0, 3.0], "f8"), 4, 2)),
    (condset, (A([1.0, 2.0, 3.0], "f8"), 4, 9)),
    (cond_list, ([1], 4)),
    (cond_list, ([1], 1)),
    (errstate, (A([1.0, 2.0, 3.0], "f8"), 4)),
    (twoloops, (A([1.0, 2.0, 3.0], "f8"), 4)),
    (inlcarry, (A([1.0, 2.0, 3.0], "f8"), 4)),
    (dtypech, (A([0, 1, 2], "i8"), 4)),
    (euler, (A([1.0, 2.0, 3.0], "f8"), 4, 0.1)),
    (fib, (5,)),
    (fib3, (5,)),
    (rot, (A([1.0, 2.0, 3.0], "f8"), A([2.0, 4.0, 6.0], "f8"), A([3.0, 6.0, 9.0], "f8"), 4)),
    (rot, (A([1.0, 2.0, 3.0], "f8"), A([2.0, 4.0, 6.0], "f8"), A([1.0, 1.0], "f8"), 4)),
    (rotl, ([1], [2], [3], 4)),
    (buf, (A([0.0, 1.0, 2.0, 3.0, 4.0, 5.0], "f8"), 3)),
    (buf2, (A([0.0, 1.0, 2.0, 3.0, 4.0, 5.0], "f8"), 3)),
    (sameab, (A([1.0, 2.0, 3.0], "f8"), A([2.0, 4.0, 6.0], "f8"), 3)),
    (prevcur, (A([1.0, 2.0, 3.0], "f8"), 4)),
    (prevcur2, (A([1.0, 2.0, 3.0], "f8"), 9)),
    (prevcur2, (A([1.0, 2.0, 3.0], "f8"), 1)),
    (hist, (A([1.0, 2.0, 3.0], "f8"), 4)),
    (ifx, (A([1.0, 2.0, 3.0], "f8"), A([5.0, 10.0, 15.0], "f8"), 4)),
    (wave, (A([1.0, 2.0, 3.0], "f8"), A([2.0, 4.0, 6.0], "f8"), 4)),
    (shift, (A([1.0, 2.0, 3.0], "f8"), A([2.0, 4.0, 6.0], "f8"), A([3.0, 6.0, 9.0], "f8"), 3)),
    (part, (A([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], "f8"), A([1.0, 2.0, 3.0], "f8"), 3)),
    (part2, (A([1.0, 2.0, 3.0], "f8"), A([5.0, 10.0, 15.0], "f8"), 3)),
    (cg_12, (A([1.0, 2.0, 3.0], "f8"), A([2.0, 4.0, 6.0], "f8"), A([3.0, 6.0, 9.0], "f8"), 3)),
    (inpl, (A([1.0, 2.0, 3.0], "f8"), A([5.0, 10.0, 15.0], "f8"), 3)),
    (trip, (A([1.0, 2.0, 3.0], "f8"), A([5.0, 10.0, 15.0], "f8"), 3)),
    (local2, (A([1.0, 2.0, 3.0], "f8"), 3)),
    (setparts, (A([1.0, 2.0, 3.0], "f8"), 3)),
    (rowswap, (A([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], "f8"), 3)),
    (rowswap2, (A([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], "f8"), 3)),
    (tt_13, (A([1.0, 2.0, 3.0], "f8"), 3)),
    (rr_13, (A([1.0, 2.0, 3.0], "f8"), 3)),
    (two_calls, (A([1.0, 2.0, 3.0], "f8"), 3)),
    (cmpd, (A([1.0, 2.0, 3.0], "f8"), 3)),
    (cmpd2, (A([1.0, 2.0, 3.0], "f8"), 3)),
    (lst, (3,)),
    (lst2, (3,)),
    (lst3, (3,)),
    (lst4, (3,)),
    (cross, (A([1.0, 2.0, 3.0], "f8"), 3)),
    (put2, (A([1.0, 2.0, 3.0], "f8"), 3)),
    (arrl, (A([1.0, 2.0, 3.0], "f8"), 3)),
]
