"""Ctrl-C in the middle of each kind of long work: KeyboardInterrupt arrives, and arrays then have the values of before or of after."""

import pytest

# Each case: what is long, and what has to hold of the arrays afterwards, however often it was interrupted.
CASES = """
import os, signal, sys, threading, time
import numpy, plait
plait.set_num_threads(int(sys.argv[1]))
rng = numpy.random.default_rng(0)
FUSED = os.environ["PLAIT_FUSE"] == "1"
numbers = rng.standard_normal(20_000_000)  # what takes long to draw is shared: cases only read it
places = rng.integers(0, 1 << 40, 20_000_000)
def normal(*shape):
    return numbers[: numpy.prod(shape)].reshape(shape)
CASES = {}
def case(make):
    CASES[make.__name__] = make
def ours(a):
    return plait.asarray(a)
def chain(y, x, steps=40):
    for _ in range(steps):
        y = plait.sin(y) + plait.arctan(y * x)
    return y
def unchanged(x, a):
    return lambda: numpy.array_equal(numpy.asarray(x), a)
def old_or_new(x, old, new):
    return lambda: numpy.array_equal(numpy.asarray(x), old) or numpy.array_equal(numpy.asarray(x), new())

@case
def region():
    a = normal(1_500_000); x = ours(a)
    return lambda: chain(x, x, 80).sum(), unchanged(x, a)
@case
def region_in_place():
    a = normal(1200, 1200); x, y = ours(a.copy()), ours(a)
    def write():
        x[1:-1, 1:-1] = chain(x[1:-1, 1:-1], y[1:-1, 1:-1])
        x[0, 0].item()
    def right():
        def new():
            b = a.copy()
            b[1:-1, 1:-1] = numpy.asarray(chain(y[1:-1, 1:-1], y[1:-1, 1:-1]))
            return b
        return old_or_new(x, a, new)()
    return write, right
@case
def reads_rows_it_writes():
    a = normal(1200, 900); x = ours(a.copy())
    def write():
        x[1:] = chain(x[:-1], x[1:])
        x[0, 0].item()
    def right():
        def new():
            b = a.copy()
            b[1:] = numpy.asarray(chain(ours(a[:-1].copy()), ours(a[1:].copy())))
            return b
        return old_or_new(x, a, new)()
    return write, right
POINTS = 40_000 if FUSED else 8000  # unfused, distances are all in memory and take longer
@case
def rows_of_points():
    # Rows of a result that was made beforehand.
    a = normal(POINTS, 3); x, out = ours(a.copy()), ours(numpy.zeros((4000, 2)))
    def write():
        out[:3500, 0] = plait.sqrt(((x[:3500, None] - x) ** 2).sum(2)).max(1)
        out[0, 0].item()
    def right():
        far = numpy.sqrt(((a[:50, None] - a) ** 2).sum(2)).max(1)
        got = numpy.asarray(out)
        return numpy.array_equal(got[:50, 0], far) and (got[3500:] == 0).all() and (got[:, 1] == 0).all()
    return write, right
@case
def adds_to_rows():
    x, a = ours(normal(POINTS, 3)), normal(4000); out = ours(a.copy())
    def add(out):
        out[:3500] += plait.sqrt(((x[:3500, None] - x) ** 2).sum(2)).max(1)
        out[0].item()
    def right():
        def new():
            b = ours(a.copy())
            add(b)
            return numpy.asarray(b)
        return old_or_new(out, a, new)()
    return lambda: add(out), right
@case
def sum_of_one_row():
    x = plait.broadcast_to(ours(numpy.ones(1)), (10_000_000_000,))
    return lambda: x.sum().item(), lambda: x[:5].sum() == 5
@case
def least_of_one_row():
    x = plait.broadcast_to(ours(numpy.ones(1)), (20_000_000_000,))
    return lambda: x.min().item(), lambda: x[:5].sum() == 5
@case
def product_of_matrices():
    a = normal(4000, 4000); x = ours(a)
    return lambda: plait.dot(x, x)[0, 0].item(), unchanged(x, a)
@case
def product_of_complex_matrices():
    a = normal(2000, 2000) + 1j; x = ours(a)
    return lambda: (x @ x)[0, 0].item(), unchanged(x, a)
@case
def many_dot_products():
    a = normal(20_000_000); x = ours(a)
    return lambda: [float(x @ x) for _ in range(80)], unchanged(x, a)
@case
def sort():
    a = normal(20_000_000); x = ours(a)
    return lambda: plait.sort(x)[0].item(), unchanged(x, a)
@case
def sort_in_place():
    a = normal(20_000_000); x = ours(a.copy())
    return lambda: x.sort(), old_or_new(x, a, lambda: numpy.sort(a))
@case
def sort_columns_in_place():
    a = normal(2_000_000, 6); x = ours(a.copy())
    return lambda: x.sort(axis=0), old_or_new(x, a, lambda: numpy.sort(a, axis=0))
@case
def argsort():
    a = normal(10_000_000); x = ours(a)
    return lambda: plait.argsort(x)[0].item(), unchanged(x, a)
@case
def unique():
    a = places; x = ours(a)
    return lambda: plait.unique(x).size, unchanged(x, a)
@case
def searchsorted():
    a, b = numpy.sort(normal(5_000_000)), numbers[:-10_000_001:-1]; x, y = ours(a), ours(b)
    return lambda: plait.searchsorted(x, y)[0].item(), unchanged(y, b)
@case
def running_sums():
    a = normal(5, 4_000_000); x = ours(a)
    return lambda: [plait.cumsum(x, 1)[0, 0].item() for _ in range(48)], unchanged(x, a)
@case
def transform():
    a = normal(1 << 23) + 1j; x = ours(a)
    return lambda: [plait.fft.fft(x)[0].item() for _ in range(6)], unchanged(x, a)
@case
def transforms():
    a = normal(3000, 3000); x = ours(a)
    return lambda: [plait.fft.fft2(x)[0, 0].item() for _ in range(6)], unchanged(x, a)
@case
def convolution():
    a, v = normal(200_000), numbers[-50_000:]; x, y = ours(a), ours(v)
    return lambda: plait.convolve(x, y)[0].item(), unchanged(x, a)
@case
def convolutions():
    a, v = normal(3_000_000), numbers[-300:]; x, y = ours(a), ours(v)
    return lambda: [plait.convolve(x, y)[0].item() for _ in range(4)], unchanged(x, a)
@case
def contraction_of_three():
    a = normal(300, 300); x = ours(a)
    return lambda: plait.einsum("ab,bc,cd->ad", x, x, x)[0, 0].item(), unchanged(x, a)
@case
def transform_of_a_prime_length():
    a = normal(4_194_301) + 1j; x = ours(a)
    return lambda: plait.fft.fft(x)[0].item(), unchanged(x, a)
@case
def inverses():
    a = normal(300_000, 8, 8); x = ours(a)
    return lambda: plait.linalg.inv(x)[0, 0, 0].item(), unchanged(x, a)
@case
def write_at_indices():
    a, at, v = normal(8_000_000), places % 8_000_000, normal(20_000_000)
    x, i, w = ours(a.copy()), ours(at), ours(v)
    def new():
        b = a.copy(); b[at] = v
        return b
    def write():
        for _ in range(10):
            x[i] = w
    return write, old_or_new(x, a, new)
@case
def combine_at_indices():
    # Each round happens wholly or not at all.
    at = rng.permutation(4_000_000).repeat(5)
    x, i = ours(numpy.zeros(4_000_000)), ours(at)
    def write():
        for _ in range(20):
            plait.add.at(x, i, 1.0)
    def right():
        h = numpy.asarray(x)
        return (h == h[0]).all() and h[0] % 5 == 0
    return write, right
@case
def draws():
    x = plait.random.default_rng(3)
    return lambda: x.standard_normal(60_000_000)[0].item(), lambda: True
@case
def uniform_draws():
    x = plait.random.default_rng(3)
    return lambda: [x.random(60_000_000)[0].item() for _ in range(4)], lambda: True
"""

RUN = """
def poke(after):
    begin, off = threading.Event(), threading.Event()
    def work():
        begin.wait()
        if not off.wait(after):
            os.kill(os.getpid(), signal.SIGINT)
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return begin, off, thread
for name, make in CASES.items():
    interrupted, values = 0, True
    for after in map(float, sys.argv[2].split(",")):
        work, right = make()
        begin, off, thread = poke(after)
        try:
            begin.set()
            work()
            off.set()
            thread.join()
            time.sleep(0)  # one that came last
        except KeyboardInterrupt:
            interrupted += 1
        finally:
            thread.join()
        values = values and bool(right())
    print(name, interrupted > 0, values, flush=True)
"""


@pytest.mark.parametrize("threads, fuse, after", [(2, 1, "0.03,0.1"), (1, 0, "0.06")])
def test_each_kind_of_long_work(run_python, tmp_path, threads, fuse, after):
    """A write that an interrupt stopped stays recorded, so `right` computes it; one that came before it left the old values."""
    file = tmp_path / "table.py"
    file.write_text(CASES + RUN)
    done = run_python(None, str(file), str(threads), after, timeout=600, env={"PLAIT_FUSE": str(fuse)})
    rows = [line.split() for line in done.stdout.splitlines()]
    assert rows and all(row[1:] == ["True", "True"] for row in rows), (done.stdout, done.stderr)
    assert len(rows) == CASES.count("@case"), done.stderr


def test_a_request_is_answered_once(run_python, tmp_path):
    """A signal whose handler Python has run is no reason to stop what comes later; nor is a handler that raises nothing."""
    file = tmp_path / "once.py"
    file.write_text(
        """
import os, signal, numpy, plait
x = plait.asarray(numpy.random.default_rng(0).standard_normal(3_000_000))
for _ in range(3):
    try:
        os.kill(os.getpid(), signal.SIGINT)
        numpy.arange(3)
        print("was not interrupted")
    except KeyboardInterrupt:
        pass
    plait.sort(x), plait.fft.fft(x[: 1 << 21]), plait.linalg.inv(x[:900_000].reshape(-1, 3, 3))
seen = []
signal.signal(signal.SIGINT, lambda *_: seen.append(1))
import threading
going = True
def storm():
    while going:
        os.kill(os.getpid(), signal.SIGINT)
        threading.Event().wait(0.01)
thread = threading.Thread(target=storm); thread.start()
for _ in range(5):
    y = plait.sort(x)
going = False
thread.join()
print(bool((y[1:] >= y[:-1]).all()), len(seen) > 0)
"""
    )
    done = run_python(None, str(file), timeout=120)
    assert done.stdout.split() == ["True", "True"], (done.stdout, done.stderr)
