"""Why a row of the page is behind its best peer: the name of a workload, a program of loop_programs.py or a small call, then the cause as far as it
is known. report.py prints it beside a row that is behind, and says which of them no row needs: they are deleted by hand. A first call that is
slower than NumPy's has the workload's name with ", first call" behind it."""

CAUSES = {
    "two layers, 1024 x (1024, 4096, 1024) f4": "Nearly all the time is in the two products; their tiles do not reach the peer's rate.",
    "one query, 32 heads, 8192 keys of 128 f4, first call": "Machine code is made during the call.",
    "convolution 3x3 by windows (8, 64, 56, 56) f4": "Panels are gathered from the windows; with 64 channels bias and ReLU are a second pass.",
    "1000 additions of 10 elements": "A compiler that sees all 1000 additions in one function pays no call for each.",
    "1000 additions of 1,000 elements": "A compiler that sees all 1000 additions in one function pays no call for each.",
    "10 steps of Adam, 40 parameters of 64 x 16 f4": "Updates of 40 small arrays are 40 pieces of one loop, each with buffers of its own; how much lies between the pieces was not measured.",
    "cube[:, :, 0-D]": "An index that is an array makes a copy, which is recorded and evaluated.",
    "q[range(3)]": "The sequence becomes an array of indices first.",
    "zeros(3)": "An array's storage and its memory are two allocations.",
    "zeros(10)": "An array's storage and its memory are two allocations.",
    "zeros((3, 3))": "An array's storage and its memory are two allocations.",
    "empty(3)": "An array's storage and its memory are two allocations.",
    "rng.shuffle(x)": "The array's memory is exported to NumPy's loop.",
    "rng.random()": "A draw is one call more: to the generator of NumPy's behind.",
    "rng.normal()": "A draw is one call more: to the generator of NumPy's behind.",
    "Monte Carlo": "A draw is one call more: to the generator of NumPy's behind.",
    "apply_along_axis(sort)": "The array is exported and the result adopted.",
    "slogdet(2 x 2)": "NumPy's Python around its loop runs over Plait's arrays.",
    "solve(2 x 2)": "NumPy's Python around its loop runs over Plait's arrays.",
    "det(2 x 2)": "NumPy's Python around its loop runs over Plait's arrays.",
    "inv(2 x 2)": "NumPy's Python around its loop runs over Plait's arrays.",
}
