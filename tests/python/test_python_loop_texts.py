"""Texts in compiled loops: their characters, states that are constants, keys, and texts that grow."""

import numpy as np
import pytest
from loop_checks import anew, check, check_compiled, outcome

import plait

ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
ASCII = "the quick Brown fox jumps over abab the lazy dog, (a[b]c){d} 12" * 2
OTHER = ASCII + "\u00e9\u00df\u4e2d\U0001f600 the"


def state(xs):
    st = "flat"
    n = 0
    for x in xs:
        if st == "flat":
            if x > 1:
                st = "long"
            elif x < -1:
                st = "short"
        elif st == "long" and x < 0:
            st = "flat"
            n += 1
        elif st == "short" and x > 0:
            st = "flat"
            n -= 1
    return (n, st)


def given(xs, mode, op="+", thr=None):
    s = 0.0
    for x in xs:
        if mode == "fast":
            s += x
        elif mode in ("slow", "mid"):
            s -= x
        if op == "+" and thr is None:
            s += 1
    return s


def lev(s1, s2):
    previous = list(range(len(s2) + 1))
    for i, c1 in enumerate(s1):
        current = [i + 1]
        for j, c2 in enumerate(s2):
            insertion = previous[j + 1] + 1
            deletion = current[j] + 1
            substitution = previous[j] + (c1 != c2)
            current.append(min(insertion, deletion, substitution))
        previous = current
    return previous[-1]


def lcs(a, b):
    n, m = (len(a), len(b))
    d = np.zeros((n + 1, m + 1), dtype=int)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            if a[i - 1] == b[j - 1]:
                d[i, j] = d[i - 1, j - 1] + 1
            else:
                d[i, j] = max(d[i - 1, j], d[i, j - 1])
    return d[n, m]


def kmp(text, pattern):
    failure = [0]
    i = 0
    j = 1
    while j < len(pattern):
        if pattern[i] == pattern[j]:
            i += 1
        elif i > 0:
            i = failure[i - 1]
            continue
        j += 1
        failure.append(i)
    i, j = (0, 0)
    while i < len(text):
        if pattern[j] == text[i]:
            if j == len(pattern) - 1:
                return i - j
            j += 1
        elif j > 0:
            j = failure[j - 1]
            continue
        i += 1
    return -1


def palin(s):
    l, r = (0, len(s) - 1)
    while l < r:
        while l < r and (not s[l].isalnum()):
            l += 1
        while l < r and (not s[r].isalnum()):
            r -= 1
        if s[l].lower() != s[r].lower():
            return False
        l += 1
        r -= 1
    return True


def roman(s):
    total = 0
    place = 0
    while place < len(s):
        if place + 1 < len(s) and ROMAN[s[place]] < ROMAN[s[place + 1]]:
            total += ROMAN[s[place + 1]] - ROMAN[s[place]]
            place += 2
        else:
            total += ROMAN[s[place]]
            place += 1
    return total


def roman2(s):
    vals = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
    total = 0
    last = 0
    for c in reversed(s):
        v = vals[c]
        total += -v if v < last else v
        last = v
    return total


def caesar(s, k):
    out = []
    for c in s:
        if c.isupper():
            out.append(chr((ord(c) - 65 + k) % 26 + 65))
        elif "a" <= c <= "z":
            out.append(chr((ord(c) - ord("a") + k) % 26 + ord("a")))
        else:
            out.append(c)
    return "".join(out)


def caesar2(s, k):
    result = ""
    for c in s:
        if c in "abcdefghijklmnopqrstuvwxyz":
            result += chr((ord(c) - 97 + k) % 26 + 97)
        else:
            result += c
    return result


def rle(s):
    out = []
    count = 1
    for i in range(len(s)):
        if i + 1 < len(s) and s[i] == s[i + 1]:
            count += 1
        else:
            out.append((s[i], count))
            count = 1
    return out


def brackets(s):
    stack = []
    pairs = {")": "(", "]": "[", "}": "{"}
    for c in s:
        if c in "([{":
            stack.append(c)
        elif c in pairs:
            if not stack or stack.pop() != pairs[c]:
                return False
    return len(stack) == 0


def balanced(s):
    stack = []
    opening = set({"(", "[", "{"})
    closing = set({")", "]", "}"})
    otc = {"{": "}", "[": "]", "(": ")"}
    for i in range(len(s)):
        if s[i] in opening:
            stack.append(s[i])
        elif s[i] in closing and (len(stack) == 0 or (len(stack) > 0 and otc[stack.pop()] != s[i])):
            return False
    return len(stack) == 0


def counts(s):
    d = {}
    for c in s:
        d[c] = d.get(c, 0) + 1
    return d


def anagram(a, b):
    d = {}
    for c in a:
        if c not in d:
            d[c] = 0
        d[c] += 1
    for c in b:
        d[c] = d.get(c, 0) - 1
    for k in d:
        if d[k] != 0:
            return False
    return True


def vowels(s):
    n = 0
    for c in s:
        if c in "aeiouAEIOU":
            n += 1
    return n


def atoi(s):
    v = 0
    sign = 1
    for i, c in enumerate(s):
        if i == 0 and c == "-":
            sign = -1
            continue
        if not c.isdigit():
            break
        v = v * 10 + int(c)
    return sign * v


def hamming(a, b):
    if len(a) != len(b):
        raise ValueError("x")
    n = 0
    for x, y in zip(a, b):
        if x != y:
            n += 1
    return n


def hexes(n):
    digits = "0123456789abcdef"
    out = []
    while n:
        out.append(digits[n % 16])
        n //= 16
    return "".join(reversed(out))


def hex2(n):
    out = []
    while n:
        out.append("0123456789abcdef"[n % 16])
        n //= 16
    return out


def naive(s, p):
    out = []
    for i in range(len(s) - len(p) + 1):
        m = True
        for j in range(len(p)):
            if s[i + j] != p[j]:
                m = False
                break
        if m:
            out.append(i)
    return out


def slices(s, p):
    n = 0
    for i in range(len(s) - 1):
        if s[i : i + 2] == p:
            n += 1
        if s[i : i + 2] == "ab":
            n += 10
    return n


def ops(toks):
    st = []
    for t in toks:
        if t.isdigit():
            st.append(int(t))
        else:
            b = st.pop()
            a = st.pop()
            if t == "+":
                st.append(a + b)
            elif t == "-":
                st.append(a - b)
            elif t == "*":
                st.append(a * b)
    return st[0]


def uniq(s):
    seen = set()
    best = 0
    left = 0
    last = {}
    for i, c in enumerate(s):
        if c in last and last[c] >= left:
            left = last[c] + 1
        last[c] = i
        best = max(best, i - left + 1)
    return best


def oob(s):
    n = 0
    for i in range(len(s) + 1):
        if s[i] == "a":
            n += 1
    return n


def keyerr(s):
    d = {"a": 1}
    n = 0
    for c in s:
        n += d[c]
    return n


def typed(s):
    n = 0
    for c in s:
        if c == 1:
            n += 1
        if c is None:
            n += 1
        n += c < "m"
    return (n, c)


def ndec(s):
    n = 0
    for c in s:
        if c == "1":
            n = n * 2 + 1
        elif c == "0":
            n = n * 2
        else:
            raise ValueError(f"bad {c} in {s}")
    return n


def maxc(s):
    best = ""
    for c in s:
        if c > best:
            best = c
    return best


def words(ws):
    n = 0
    for w in ws:
        if w == "the":
            n += 1
    return n


def build(s):
    r = ""
    for c in s:
        if c != " ":
            r += c.lower() if c.isalpha() else "_x_"
    return r


def pre(s):
    r = ""
    for c in s:
        r = c + r
        if len(r) > 30:
            r = ""
    return r


def rle2(s):
    out = ""
    n = 1
    for i in range(1, len(s)):
        if s[i] == s[i - 1]:
            n += 1
        else:
            out += s[i - 1]
            n = 1
    return (out, n)


def tokens(s):
    words = 0
    cur = ""
    longest = ""
    for c in s:
        if c == " ":
            if cur == "the":
                words += 1
            if len(cur) > len(longest):
                longest = cur
            cur = ""
        else:
            cur += c
    return (words, longest, cur)


def grows(s, r):
    for c in s:
        r += c
    return r


def same(s, r):
    for c in s:
        if c == "\x01":
            r += c
    return r


def tailed(s):
    r = ""
    t = ""
    for i in range(len(s)):
        r += s[i]
        if i % 5 == 0:
            t = r + "|" + t
        if i % 11 == 0:
            t = s[i : i + 3]
        if i % 13 == 0:
            r = ""
    return (r, t)


def joins(s):
    n = 0
    last = ""
    for i in range(len(s)):
        a = []
        for j in range(i, min(i + 4, len(s))):
            a.append(s[j])
        w = "".join(a)
        if w == "the ":
            n += 1
        last = w
    return (n, last)


def errs(s):
    r = ""
    for c in s:
        r += c
        if c == "Q":
            raise ValueError("at " + r)
    return r


def typeerr(s):
    r = ""
    for i, c in enumerate(s):
        r += c
        if i == 9:
            r += 1
    return r


def dbl(s):
    r = "ab"
    for c in s:
        if len(r) < 100:
            r += r
        if r[0] == c:
            r = r + c
        if c in r:
            r = "q" + c
    return r


def unbound(s):
    for c in s:
        if c == "q":
            r += c  # noqa: F821
        if c == "!":
            r = ""
    return 1


def textnone(s):
    r = None
    for c in s:
        if r is None:
            r = c
        elif c > r:
            r = c
    return r


def callee(c, shift):
    if not c.isalpha():
        return c
    return chr((ord(c.lower()) - 97 + shift) % 26 + 97)


def caller(s):
    r = ""
    for c in s:
        r += callee(c, 3)
    return r


def sub(s, i, j):
    return s[i:j]


def calls(s):
    n = 0
    for i in range(len(s)):
        if sub(s, i, i + 3) == "the":
            n += 1
        if palind(s[i : i + 3]):
            n += 100
    return n


def palind(s):
    i, j = (0, len(s) - 1)
    while i < j:
        if s[i] != s[j]:
            return False
        i += 1
        j -= 1
    return True


class P:
    def __init__(self):
        self.state = "idle"
        self.best = None
        self.n = 0

    def step(self, c):
        if self.state == "idle":
            if c == "(":
                self.state = "in"
        elif c == ")":
            self.state = "idle"
            self.n += 1
        if self.best is None or c > self.best:
            self.best = c

    def run(self, s):
        for c in s:
            self.step(c)
        return self.n


def objs(s):
    p = P()
    p.run(s)
    return (p.state, p.best, p.n)


def setin(s):
    seen = set()
    out = []
    for c in s:
        if c not in seen:
            seen.add(c)
            out.append(c)
    return (out, sorted(seen))


def comp(s):
    return (
        [c for c in s if c.isalpha()],
        [None if c == " " else c for c in s],
        sum((1 for c in s if c in "aeiou")),
        [ord(c) for c in s],
        [c if c.isalpha() else 1 for c in s],
    )


def mat(s):
    n = 0
    for c in s:
        match c:
            case "a" | "b":
                n += 1
            case "t":
                n += 10
            case None:
                n += 1000
            case _:
                n += 100
    return n


def slices2(s, t):
    n = 0
    for i in range(len(s)):
        if s[i:] == t[: len(s) - i]:
            n += 1
        if s[i::2] == "a":
            n += 7
        if s[-3:] != s[:3]:
            n += 1
    return n


def earlier(s, table):
    for c in s:
        if c in table:
            return c
    return ""


def level(xs):
    for x in xs:
        if x > 3:
            return "high"
        elif x < -3:
            return "low"


def fizz(n):
    out = []
    for i in range(n):
        if i % 15 == 0:
            out.append("FizzBuzz")
        elif i % 5 == 0:
            out.append("Buzz")
        elif i % 3 == 0:
            out.append("Fizz")
        else:
            out.append(i)
    return out


def strand(s):
    pairs = {"A": "T", "C": "G", "G": "C", "T": "A"}
    out = ""
    for c in s:
        out = pairs[c] + out
    return out


def longest(s):
    n, best, start = len(s), 0, 0
    for c in range(n):
        for d in (0, 1):
            low, high = c, c + d
            while low >= 0 and high < n and s[low] == s[high]:
                if high - low + 1 > best:
                    best, start = high - low + 1, low
                low -= 1
                high += 1
    return s[start : start + best]


def hashed(t, p):
    h = ht = 0
    m = 1
    for i in range(len(p)):
        h = (ord(p[i]) + h * 256) % 1000003
        ht = (ord(t[i]) + ht * 256) % 1000003
        if i < len(p) - 1:
            m = m * 256 % 1000003
    for i in range(len(t) - len(p) + 1):
        if ht == h and t[i : i + len(p)] == p:
            return i
        if i < len(t) - len(p):
            ht = ((ht - ord(t[i]) * m) * 256 + ord(t[i + len(p)])) % 1000003
    return -1


def mixed_keys(s):
    d = {1: 0}
    for c in s:
        d[c] = d.get(c, 0) + 1
    return d


def numbers_and_texts(s):
    state = 0
    for c in s:
        if state == c:
            state = 1
        elif c == "b":
            state = c
        elif state == "b":
            state = 0.5
    return state


def left_in_the_middle(x, s):
    n, a, b, d, out = 0, "up", "", 0.5, []
    for i, c in enumerate(s):
        if b is None:
            d = c
        else:
            d = x[i]
        out.append(b if i % 4 == 0 else s[i])
        d = True
        n += a is not None and a != "up" and a == x[i]
        d = "up"
        if d != x[i] or d != None:  # noqa: E711
            n += a
    return a, b, d, n, out


COMPILED = [
    (state, ([0.5, 2.0, -0.5, -3.0, 2.0, 0.1, -2.0],)), (given, ([1.0, 2.0], "fast")), (given, ([1.0, 2.0], "mid", "-", 3)), (lev, ("kitten sitting", "sitting kitten")),
    (lev, (OTHER[-20:], "the \u00e9 brown")), (lcs, ("ABCBDAB" * 3, "BDCABA" * 3)), (kmp, (OTHER, "abab")), (kmp, (ASCII, "zzz")), (palin, ("A man, a plan, a canal: Panama",)),
    (roman, ("MCMXCIV",)), (roman2, ("MCMXCIV",)), (caesar, (ASCII, 3)), (caesar2, (ASCII, 3)), (rle, ("AAAABBBCCDAA",)), (brackets, ("([{}])",)), (brackets, ("([{])",)),
    (balanced, ("([{}])",)), (counts, (OTHER,)), (counts, ("",)), (anagram, ("listen", "silent")), (anagram, ("listen", "silenx")), (vowels, (OTHER,)), (atoi, ("-12345x",)),
    (hamming, ("karolin", "kathrin")), (hexes, (123456789,)), (hex2, (123456789,)), (naive, (ASCII, "the")), (slices, (OTHER, "th")), (ops, (["5", "6", "9", "*", "+"],)),
    (uniq, (OTHER,)), (maxc, (OTHER,)), (maxc, ("",)), (words, (ASCII.split(),)), (pre, (OTHER,)), (rle2, ("aaabbbcc",)), (tokens, (OTHER,)), (grows, (OTHER, "\u00e9-")),
    (same, (OTHER, "\u00e9-")), (tailed, (OTHER,)), (joins, (ASCII,)), (dbl, (OTHER,)), (textnone, (OTHER,)), (caller, (ASCII,)), (calls, (ASCII,)), (setin, (OTHER,)),
    (comp, (ASCII,)), (mat, (OTHER,)), (slices2, (OTHER, ASCII)), (typed, (OTHER,)), (earlier, ("abcdef", "xyzd")), (earlier, (OTHER, "~")), (level, ([0.0, -4.0, 5.0],)), (level, ([1.0],)), (fizz, (40,)), (strand, ("ACGTTGCA",)),
    (longest, (OTHER,)), (hashed, (OTHER, "over")), (numbers_and_texts, ("aabbcab",)),
]  # fmt: skip
# With errors, or with characters or statements that Python has.
OTHERS = [
    (palin, (OTHER,)), (roman2, ("MCMXQ",)), (caesar, (OTHER, 3)), (hamming, ("a", "ab")), (oob, (ASCII,)), (oob, (OTHER,)), (keyerr, ("aab",)), (ndec, ("1011",)),
    (ndec, ("101x",)), (build, (OTHER,)), (joins, (OTHER,)), (errs, ("abQ",)), (typeerr, (OTHER,)), (unbound, ("a!q",)), (unbound, ("aq",)), (caller, (OTHER,)), (comp, (OTHER,)),
    (objs, (ASCII,)), (mixed_keys, (OTHER,)), (left_in_the_middle, ([-1.0] * 6, "abcdef")),
]  # fmt: skip


@pytest.mark.parametrize("f, args", COMPILED, ids=lambda x: getattr(x, "__name__", ""))
def test_texts_are_compiled(f, args, at_once, monkeypatch):
    check(anew(f), args)
    check_compiled(f, args, monkeypatch)


@pytest.mark.parametrize("f, args", OTHERS, ids=lambda x: getattr(x, "__name__", ""))
def test_what_machine_code_has_not_is_pythons(f, args, at_once):
    check(anew(f), args)


@pytest.mark.parametrize("look", [2, 3, 7])
def test_they_go_over_in_the_middle(look, from_look):
    for f, args in (*COMPILED, *OTHERS):
        from_look(look)
        jitted, expected = plait.jit(anew(f)), outcome(f, args)
        for _ in range(2):
            assert outcome(jitted, args) == expected, f.__name__


def test_codes_are_for_any_text(at_once):
    """Of which the characters are asked for: no text is a constant of its own then."""
    from plait._jit import loops_of

    jitted = plait.jit(anew(vowels))
    for n in range(40):
        text = ASCII[n:] + str(n)
        assert jitted(text) == vowels(text)
    assert [len(loop.codes) for loop in loops_of(jitted)] == [1]
