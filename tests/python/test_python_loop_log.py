"""What became of Python's loops: PLAIT_LOG=loops, and the source that plait.explain marks line by line."""

import numpy as np

import plait

SOURCE = """
import numpy as np, plait
from plait._python_loops import codes, going_over
going_over.WORTH = 0.0
codes.Code.ready = property(lambda code: code.usable and (code.procedure.compile() or True))

@plait.jit
def f(x, n):
    t = 0.0
    for i in range(n):
        t += x[i]
    for i in range(n):
        x[i] = t * i
    for v in map(abs, [1, 2]):
        t += v
    for i in range(n):
        t = hex(i)
    return [i * 0.5 for i in range(n)]

for _ in range(2):
    f(np.ones(9), 9)
"""


def test_the_log_has_a_line_for_each_loop(run_python, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(SOURCE)
    done = run_python(None, str(program), env={"PLAIT_LOG": "loops", "PLAIT_CACHE_DIR": str(tmp_path)})
    lines = [line.replace(str(program), "program.py") for line in done.stderr.splitlines()]
    assert all(line.startswith("plait[loops] program.py:") for line in lines) and len(lines) == 5, done.stderr
    said = {int(line.split(":")[1]): line.split(":", 2)[2] for line in lines}
    assert " ms of compilation; one thread: an iteration may need what one before it has left" in said[10]
    assert "for i in range(n): in f(): machine code for t: float, x: float64[:]; " in said[10]
    assert "machine code for t: float, x: float64[:], of which threads run parts; " in said[12].replace("t: numpy.float64", "t: float")
    assert said[14] == " the loop in f() stays Python's: it goes over what is neither a range nor arrays and lists of numbers"
    assert said[16] == " the loop in f() stays Python's: a call of hex() (line 17)"
    assert "[i * 0.5 for i in range(n)] in f(): machine code for its range, of which threads run parts; " in said[18]


def test_the_source_line_by_line(at_once):
    @plait.jit
    def f(x, n):
        t = 0.0
        for i in range(n):
            for j in range(3):
                t += x[i] * j
        for i in range(n):
            x[i] = t
        for v in map(abs, [1, 2]):
            t += v
            for i in range(n):
                x[i] += v
        while n:
            n -= 1
            int("7", base=10)
        return t

    f(np.ones(9), 9)
    text = plait.explain(f, np.ones(9), 9).split("the source, and what runs it:\n")[1].splitlines()
    first = f.__wrapped__.__code__.co_firstlineno
    marks = {int(line[14:].split()[0]) - first: (line[:14].strip(), line.partition("<- ")[2]) for line in text if line.strip()}
    assert [marks[k][0] for k in range(1, 16)] == (
        ["Python", "Python", *["machine code"] * 3, *["threads"] * 2, "Python", "Python", "threads", "threads", *["Python"] * 4]
    )
    assert marks[3] == ("machine code", "one thread: an iteration may need what one before it has left, or end the loop")
    assert marks[6] == marks[7] == ("threads", "")
    assert marks[8] == ("Python", "it goes over what is neither a range nor arrays and lists of numbers") and marks[10] == ("threads", "")
    assert marks[12][0] == "Python" and marks[12][1].startswith("a call with keywords (line ")


def test_functions_without_loops_have_no_such_section():
    @plait.jit
    def f(x):
        return x + 1

    texts = plait.explain(f, np.ones(9)), plait.explain(lambda x: x + 1, np.ones(9))
    assert not any("what runs it:\n" in text for text in texts)


def test_loops_that_are_left_to_python_are_not_marked():
    def f(x):
        for i in range(3):
            x[i] = i
        return x

    assert "what runs it" not in plait.explain(plait.jit(f, loops=False), np.ones(9))
