"""Procedures that get memory while they run, and call what has effects."""

import random
import threading

import numpy
import pytest

import plait as np
from plait import _plait
from test_procedure import Program, finished


class Growing(Program):
    """With a list: where it lies, how many elements there are, and for how many there is room."""

    def list(self, dtype="int64"):
        self.values = self.heap(dtype)
        self.at, self.count, self.room = (self.local("int64") for _ in range(3))

    def append(self, v, block):
        """Leaves the block where memory is short."""
        self.begin_if(self.apply("equal", self.get(self.count), self.get(self.room)))
        old = self.element(self.get(self.room))
        self.set(self.room, self.apply("add", self.element(self.get(self.room), 2), self.int(1)))
        grown = self.call("heap_grow", self.get(self.at), old, self.element(self.get(self.room)))
        self.break_(block, self.apply("equal", grown, self.int(0)))
        self.set(self.at, grown)
        self.end()
        self.store(self.values, self.place(self.get(self.count)), v)
        self.bump(self.count, self.int(1))

    def place(self, i):
        return self.apply("add", self.get(self.at), self.element(i))


def squares(parameters=True):
    p = Growing("squares")
    p.list()
    given = p.buffer("int64", False)
    n = p.param() if parameters else p.arg("int64")
    all = p.begin_if()
    _, i = p.begin_count(p.int(0), n)
    p.append(p.apply("multiply", i, i), all)
    p.end()
    p.end()
    total = p.local("int64")
    _, i = p.begin_count(p.int(0), p.get(p.count))
    p.bump(total, p.load(p.values, p.place(i)))
    p.end()
    p.bump(total, p.load(given, p.int(0)))
    for result in [p.at, p.count, total]:
        p.result(p.get(result))
    return finished(p)


def test_a_list_that_grows():
    p = squares()
    for n in [0, 1, 2, 1000, 300_000]:
        at, count, total, heap = p.run([np.array([7])], [n], [])
        expected = numpy.arange(n, dtype="int64") ** 2
        assert count == n and total == expected.sum() + 7
        found = heap.array(at, count, "int64")
        assert type(found) is numpy.ndarray and found.flags.owndata
        assert (found == expected).all()
        assert (heap.array(at, min(n, 2), "int64") == expected[:2]).all()


def test_every_part_has_a_heap():
    p = squares(parameters=False)
    parts = [(n,) for n in range(50)]
    runs = p.run_parts([np.array([0])], [], [0], parts, 1.0)
    for n, (at, count, _, heap) in enumerate(runs):
        assert (heap.array(at, count, "int64") == numpy.arange(n) ** 2).all()


def test_threads_have_heaps_of_their_own():
    p = squares()
    wrong = []

    def run():
        for n in range(200):
            at, count, _, heap = p.run([np.array([0])], [n], [])
            if (heap.array(at, count, "int64") != numpy.arange(n) ** 2).any():
                wrong.append(n)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_blocks():
    p = Program("blocks")
    p.heap("uint8")
    n = p.param()
    first, second = p.call("heap_alloc", n), p.call("heap_alloc", n)
    p.call("heap_free", first)
    third = p.call("heap_alloc", n)
    for v in [first, second, third]:
        p.result(v)
    finished(p)
    for n in [0, 1, 64, 1000, 4096, 100_000]:
        first, second, third, heap = p.run([], [n], [])
        assert second not in [first, third] and first % 64 == second % 64 == 0
        assert not heap.array(second, n, "uint8").any() and not heap.array(third, n, "uint8").any()
    for n in [-1, 2**62]:
        assert p.run([], [n], [])[:3] == (0, 0, 0)
    for where, count in [(0, 1), (second, -1)]:
        with pytest.raises(ValueError):
            heap.array(where, count, "uint8")


def test_bits():
    p = Program("bits")
    x = p.arg("float64")
    bits = p.call("float_bits", x)
    p.result(bits)
    p.result(p.call("bits_float", bits))
    finished(p)
    for v in [0.0, -0.0, 1.5, -2e300]:
        assert p.run([], [], [v]) == (int(numpy.float64(v).view("int64")), v)


class Counting(Program):
    """Of a sequence of commands: 1 inserts a key, and counts how often; -1 removes one."""

    def __init__(self, words):
        super().__init__("counting")
        self.words = words
        commands, keys = self.buffer("int64", False), self.buffer("int64", False)
        seen = self.buffer("int64", True)
        counts = self.heap("int64")
        n = self.param()
        table = self.call("table_new", self.int(words))
        room = self.call("heap_alloc", self.element(n))
        _, i = self.begin_count(self.int(0), n)
        key = [
            self.load(keys, self.element(self.apply("add", self.element(i, words), self.int(w))))
            for w in range(words)
        ]
        command = self.load(commands, self.element(i))
        self.begin_if(self.apply("greater", command, self.int(0)))
        before = self.on_key("find", table, key)
        entry = self.on_key("insert", table, key)
        place = self.apply("add", room, self.element(entry))
        self.begin_if(self.apply("less", before, self.int(0)))
        self.store(counts, place, self.int(0))
        self.end()
        self.store(counts, place, self.apply("add", self.load(counts, place), self.int(1)))
        self.store(seen, self.element(i), self.load(counts, place))
        self.otherwise()
        self.store(seen, self.element(i), self.on_key("remove", table, key))
        self.end()
        self.end()
        # What is left, in order: words, then how often.
        left, out = self.local("int64"), self.call("heap_alloc", self.element(n, 8 * (words + 1)))
        entries = self.call("table_entries", table)
        _, e = self.begin_count(self.int(0), entries)
        self.begin_if(self.apply("equal", self.call("table_alive", table, e), self.int(1)))
        found = [self.call("table_word", table, e, self.int(w)) for w in range(words)]
        found.append(self.load(counts, self.apply("add", room, self.element(e))))
        for v in found:
            self.store(counts, self.apply("add", out, self.element(self.get(left))), v)
            self.bump(left, self.int(1))
        self.end()
        self.end()
        self.result(out)
        self.result(self.call("table_size", table))
        self.call("table_clear", table)
        self.result(self.call("table_size", table))
        self.result(self.call("table_entries", table))

    def on_key(self, what, table, key):
        if self.words == 1:
            return self.call(f"table_{what}1", table, *key)
        for n, word in enumerate(key):
            self.call("table_key", table, self.int(n), word)
        return self.call(f"table_{what}", table)


def counted(commands, keys):
    """What a dict gives: what is left, and after each command how often, or whether it was there."""
    counts, seen = {}, []
    for command, key in zip(commands, keys):
        if command > 0:
            counts[key] = counts.get(key, 0) + 1
            seen.append(counts[key])
        else:
            seen.append(counts.pop(key, None) is not None)
    return counts, seen


@pytest.mark.parametrize("words", [1, 2, 3, 4])
@pytest.mark.parametrize("different", [1, 20, 100_000])
def test_counting(words, different):
    p = finished(Counting(words))
    r = random.Random(words * different)
    pool = [tuple(r.getrandbits(63) for _ in range(words)) for _ in range(different)]
    pool[: different // 2] = [(n << 47, *key[1:]) for n, key in enumerate(pool[: different // 2])]
    n = 100_000 if different > 20 else 5000
    commands = [1 if r.random() < 0.6 else -1 for _ in range(n)]
    keys = [r.choice(pool) for _ in range(n)]
    counts, expected = counted(commands, keys)
    flat = [word for key in keys for word in key]
    seen = np.zeros(n, dtype="int64")
    out, size, cleared, entries, heap = p.run([np.array(commands), np.array(flat), seen], [n], [])
    assert size == len(counts) and cleared == entries == 0
    rows = heap.array(out, size * (words + 1), "int64").reshape(size, words + 1).tolist()
    assert [(*row[:-1],) for row in rows] == list(counts)
    assert [row[-1] for row in rows] == list(counts.values())
    found = [v if c > 0 else v >= 0 for c, v in zip(commands, seen.tolist())]
    assert found == expected


def test_tables_have_keys_of_1_to_4_words():
    p = Program("table")
    p.result(p.call("table_new", p.param()))
    finished(p)
    for words in range(6):
        assert (p.run([], [words], [])[0] != 0) == (1 <= words <= 4)


def test_misuse():
    p = Program("misuse")
    with pytest.raises(ValueError):
        p.call("heap_shrink", p.int(0))
    with pytest.raises(ValueError):
        p.call("heap_alloc")
    with pytest.raises(TypeError):
        p.heap("object")
    with pytest.raises(TypeError):
        _plait.Heap()
