"""Threads of an application that each evaluate arrays of their own: seconds for all, against one after the other.

    python benchmarks/side_by_side.py [THREADS]

Each evaluation runs on one thread of its own (PLAIT_NUM_THREADS=1), so that only evaluations beside each other can bring anything.
"""

import os
import statistics
import sys
import threading
import time

os.environ["PLAIT_NUM_THREADS"] = "1"

import plait as np  # noqa: E402: the setting is read when it is imported

THREADS = int(sys.argv[1]) if len(sys.argv) > 1 else len(os.sched_getaffinity(0))
ROUNDS = 9


def programs(n):
    x = [np.linspace(0.0, 1.0, n) + i for i in range(THREADS)]
    for a in x:
        np.sum(a)
    return [lambda a=a: float(np.sqrt(np.sin(a) * a + 1.0).sum()) for a in x]


def one_after_the_other(work, times):
    for w in work:
        for _ in range(times):
            w()


def side_by_side(work, times):
    threads = [threading.Thread(target=lambda w=w: [w() for _ in range(times)]) for w in work]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def main():
    print(f"{THREADS} threads, ms for all of them   one after the other  side by side  times as fast")
    for n in (10_000, 100_000, 1_000_000, 5_000_000):
        work, times = programs(n), max(1, 2_000_000 // n)
        one_after_the_other(work, 40)  # plans and machine code are there
        alone, beside = [], []
        for _ in range(ROUNDS):
            for way, seconds in ((one_after_the_other, alone), (side_by_side, beside)):
                start = time.perf_counter()
                way(work, times)
                seconds.append(time.perf_counter() - start)
        a, b = statistics.median(alone) * 1e3, statistics.median(beside) * 1e3
        print(f"{times:4d} times {n:8d} elements {a:29.1f} {b:13.1f} {a / b:14.2f}")


if __name__ == "__main__":
    main()
