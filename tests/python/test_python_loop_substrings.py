"""Parts of texts as keys of dicts, elements of sets and lists, in compiled loops: of seven of ASCII's characters at most, and of others by Python."""

import random
from collections import Counter, defaultdict

import pytest
from loop_checks import check, check_compiled

S = "ACGTTGCAACGTAGCTAGCTAGGATCGATCGATCGNACGT"


def counts(s, k):
    c = {}
    for i in range(len(s) - k + 1):
        m = s[i : i + k]
        if m in c:
            c[m] += 1
        else:
            c[m] = 1
    return c


def counted(s, k):
    c = defaultdict(int)
    for i in range(len(s) - k + 1):
        c[s[i : i + k]] += 1
    return c, max(c, key=c.get)


def pairs(s, k):
    c = Counter()
    for i in range(len(s) - k):
        c[s[i : i + k], s[i + k]] += 1
    return c


def seen_again(s, k):
    seen, out = set(), []
    for i in range(len(s) - k + 1):
        m = s[i : i + k]
        if m in seen:
            out.append(m)
        seen.add(m)
    return out, len(seen)


def translated(s, k):
    table, found = {"ACG": 1, "CAA": 7, "AB": 3, "": 9}, []
    for i in range(0, len(s) - 2, 3):
        found.append(table.get(s[i : i + k], -1))
    return found


def commonest(s, k):
    best, c = "", {}
    for i in range(len(s) - k + 1):
        m = s[i : i + k]
        c[m] = c.get(m, 0) + 1
        if best == "" or c[m] > c[best]:
            best = m
    return best


def followed(s, k):
    after = {}
    for i in range(len(s) - k):
        after[s[i : i + k]] = s[i + 1 : i + k + 1]
    return after


def cut(s, k):
    return [s[i : i + k] for i in range(0, len(s), 3)]


def backwards(s, k):
    c = {}
    for i in range(k, len(s)):
        m = s[i : i - k : -1]
        c[m] = c.get(m, 0) + i
    return c


FORMS = [counts, counted, pairs, seen_again, translated, commonest, followed, cut, backwards]


@pytest.mark.parametrize("f", FORMS)
@pytest.mark.parametrize("k", [1, 3, 7])
def test_forms(f, k, at_once, monkeypatch):
    check(f, (S, k))
    check_compiled(f, (S, k), monkeypatch)


@pytest.mark.parametrize("f", FORMS)
@pytest.mark.parametrize("s, k", [(S, 2), (S, 0), (S, 8), (S, 9), (S + "é", 3), (S[:9] + "é" + S, 2), ("a\0\0b\0\0", 2), ("\x7f" * 9, 7), ("", 3)])
def test_others(f, s, k, at_once):
    """More characters than a word has, and those that ASCII has not, are Python's."""
    check(f, (s, k))


@pytest.mark.parametrize("n", [2, 3, 6])
def test_from_the_midst(n, from_look):
    for f in (counts, commonest, seen_again):
        from_look(n)
        check(f, (S, 3))


def test_many(at_once):
    rng = random.Random(3)
    check(counts, ("".join(rng.choice("ACGT") for _ in range(5000)), 6))
