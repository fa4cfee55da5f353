"""Ctrl-C in the middle of an evaluation, and threads that record meanwhile."""

# A single evaluation of a few seconds, poked after it has begun.
LONG = """
import os, signal, sys, threading, time, plait
plait.set_num_threads(int(sys.argv[1]))
x = plait.ones(6_000_000)
def heavy(steps=120):
    y = x
    for _ in range(steps):
        y = plait.sin(y) + plait.arctan(y * x)
    return y
def poke(after=0.3):
    def work():
        time.sleep(after); os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=work, daemon=True).start()
"""


def script(run_python, tmp_path, body, threads):
    file = tmp_path / "script.py"
    file.write_text(LONG + body)
    return run_python(None, str(file), str(threads), timeout=60, env={"PLAIT_JIT": "off"})


def test_one_long_evaluation(run_python, tmp_path):
    body = """
y = heavy()
poke()
began = time.time()
try:
    y.sum().item()
    print("ran to its end")
except KeyboardInterrupt:
    stopped = time.time() - began
    first = y[:3].sum().item()
    print("interrupted", x.sum().item(), first == plait.array(heavy()[:3]).sum().item(), stopped < 5)
"""
    for threads in (1, 2):
        done = script(run_python, tmp_path, body, threads)
        assert done.stdout.split() == ["interrupted", "6000000.0", "True", "True"], done.stderr


def test_handler_that_does_not_raise(run_python, tmp_path):
    body = """
seen = []
signal.signal(signal.SIGINT, lambda *_: seen.append(1))
y = heavy()
poke(0.1)
total = y.sum().item()
print(len(seen), total == heavy().sum().item())
"""
    done = script(run_python, tmp_path, body, 2)
    assert done.stdout.split() == ["1", "True"], done.stderr


def test_interrupt_while_another_thread_records(run_python, tmp_path):
    body = """
going = True
def record():
    z = plait.zeros(10)
    while going:
        z = z + 1
        z[2:] *= 0.5
thread = threading.Thread(target=record, daemon=True)
thread.start()
try:
    poke()  # a busy machine may not get past it in time
    heavy().sum().item()
    print("ran to its end")
except KeyboardInterrupt:
    print("interrupted")
going = False
thread.join()
print(x.sum().item())
"""
    done = script(run_python, tmp_path, body, 2)
    assert done.stdout.split() == ["interrupted", "6000000.0"], done.stderr
