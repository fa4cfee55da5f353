"""Why a row of the page is behind its best peer: the name of a workload or a small call, then the cause as far as it is known. report.py
prints it beside a row that is behind, and leaves it out where the row is not. A first call that is slower than NumPy's has the workload's
name with ", first call" behind it."""

CAUSES = {
    "Black-Scholes, 2,000,000": "On one thread Plait and torch.compile are level; the second thread gives Plait a factor of 1.2 and torch 1.8.",
    "two layers, 1024 x (1024, 4096, 1024) f4": "Nearly all the time is in the two products; their tiles do not reach the peer's rate.",
    "one query, 32 heads, 8192 keys of 128 f4": "The loop multiplies tiles of 14 rows, and one query fills one of them.",
    "one query, 32 heads, 8192 keys of 128 f4, first call": "Machine code is made during the call.",
    "64 products of (128, 64, 128) f4": "`plait.jit` adds the cost of its edge: arguments are borrowed and results handed out.",
    "softmax 4096 x 4096 f4": "The maximum, the sum and the quotient are three passes over a row in the cache.",
    "bincount with weights, 10,000,000 into 256": "One pass over the inputs takes a quarter of the time; why additions to bins take the rest was not found.",
    "histogram of tanh, 10,000,000": "The range is needed before the bins, so tanh is stored and read again.",
    "variance of 10,000,000": "The mean is needed before the squares, so there are two passes over memory.",
    "gather and chain, 1,000,000 of 10,000,000, one thread": "Elements are read from memory at random places, one cache line each.",
    "convolution 3x3 by windows (8, 64, 56, 56) f4": "Panels are gathered from the windows; with 64 channels bias and ReLU are a second pass.",
    "sort of 5,000,000": "Runs are sorted by NumPy's own loops, so one thread is level with it.",
    "1000 additions of 10 elements": "A compiler that sees all 1000 additions in one function pays no call for each.",
    "1000 additions of 1,000 elements": "A compiler that sees all 1000 additions in one function pays no call for each.",
    "1000 additions of 10,000 elements": "A compiler that sees all 1000 additions in one function keeps the sum in the cache.",
    "100 small steps of 1000 elements": "A compiler that sees all 100 steps in one function pays no call for each.",
}
