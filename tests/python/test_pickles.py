"""What goes to other processes: modules, functions and objects of theirs, by every way that libraries send them."""

import os

import pytest

SCRIPT = '''
import concurrent.futures, copy, functools, multiprocessing, pickle, sys
import cloudpickle, loky
import numpy as np
import plait
from numpy import linalg as la
from numpy.random import default_rng

x = np.arange(6.0)


def of_linalg(x): return np.linalg.norm(x)
def of_random(x): return np.random.default_rng(0).random(6) + x + np.random.RandomState(1).normal()
def of_fft(x): return np.fft.fft(x).real
def of_names(x): return la.norm(x) + default_rng(0).random()
def of_submodules(x): return np.lib.stride_tricks.sliding_window_view(x, 2) + np.polynomial.Polynomial([1, 2])(x[:2])


def closure(k):
    return plait.jit(lambda x: np.sin(x) * k + np.linalg.norm(x))


@plait.jit
def jitted(x): return np.linalg.norm(x) * np.random.default_rng(0).random()
@plait.jit(device="cpu")
def placed(x): return np.sin(x)
@plait.jit
def generator(x):
    for v in x:
        yield np.linalg.norm(v)
def calls_jitted(x): return jitted(x)
@plait.jit
class Model:
    def __init__(self): self.rng, self.w = np.random.default_rng(0), np.ones(3)
    def draw(self, x): return self.rng.random(6) + self.w.sum() * np.linalg.norm(x)
def methods(x): return Model().draw(x)


def same(x): return x.__name__, x.linalg.__name__, float(x.linalg.norm(np.ones(4)))
def bits(rng): return rng.normal(size=3)
def drawn_by_a_jitted(rng): return plait.jit(bits)(rng)
def called(f): return f(np.arange(6.0))
def listed(f): return list(f(np.arange(6.0).reshape(2, 3)))
def itself(x): return x
def content(x): return type(x).__name__, x.dtype, x.tolist()
def name(x): return x.__name__
def drawn_later(make): return make(3).random(2)

used = np.random.default_rng(7)
used.random(3)
state = np.random.RandomState(7)
state.normal()  # which keeps the second of a pair
made = Model()
jitted(np.ones(6)), np.random.rand(), np.linalg.norm(x)  # what follows has been used

# what is sent -> what is made of it there. By value: a function that cannot be found by its name, which pickle alone does not take; nor does
# it take a module of NumPy's own.
THINGS = [
    *((f, called, "") for f in (of_linalg, of_random, of_fft, of_names, of_submodules, jitted, placed, calls_jitted, methods)),
    (generator, listed, ""), (Model, name, ""), (made, lambda m: m.draw(np.arange(6.0)), ""),
    (closure(3), called, "by value"), (plait.jit(of_linalg), called, "by value"), (lambda x: np.linalg.norm(x), called, "by value"),
    (functools.partial(jitted, x), lambda f: f(), ""), (made.draw, called, ""),
    *((m, name, "module") for m in (np.linalg, np.random, np.fft, np.polynomial, np.lib, np.lib.stride_tricks, np.testing, np.char)),
    (used, bits, ""), (state, bits, ""), (used, drawn_by_a_jitted, ""), (np.random.Philox(3), lambda b: np.random.Generator(b).random(), ""),
    (np.random.SeedSequence(5), lambda s: s.generate_state(3), ""), (np.random.default_rng, drawn_later, ""), (np.linalg.norm, called, ""),
    *((f, called, "") for f in (np.sin, np.where, np.sum, np.median, np.fft.rfft, x.dot)),
    *((t, itself, "") for t in (np.dtype("f4"), np.dtype([("a", "f8")]), np.float32, np.ndarray, np.random.Generator, np.sum(x), np.float64(2))),
    *((a, content, "") for a in (x, x[::2], x.reshape(2, 3).T, np.sin(x) * 2, np.array(["a"]), np.zeros(2, [("a", "f8")]), np.array(3), x > 2)),
]


def fresh(thing, kind):  # generators go on
    return thing if kind == "module" else copy.deepcopy(thing)


def text(x):
    return [text(v) for v in x] if type(x) in (list, tuple) else np.asarray(x).tolist() if hasattr(x, "tolist") else str(x)


def there(sent):
    thing, use = cloudpickle.loads(sent)
    return text(use(thing))


def takes_less(kind, way):
    return (kind == "by value" and way.startswith("pickle")) or (kind == "module" and np.__name__ == "numpy")


if __name__ == "__main__":
    if sys.argv[1] == "here":
        ways = {
            "pickle": lambda t: pickle.loads(pickle.dumps(t)), "pickle 2": lambda t: pickle.loads(pickle.dumps(t, 2)),
            "cloudpickle": lambda t: cloudpickle.loads(cloudpickle.dumps(t)), "copy": copy.copy, "deepcopy": copy.deepcopy,
        }
    else:
        pools = {"loky": loky.get_reusable_executor(1).submit, "spawn": concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")).submit}
    failed = []
    for thing, use, kind in THINGS:
        want = text(use(fresh(thing, kind)))
        if sys.argv[1] == "here":
            sent = {w: functools.partial(lambda way: text(use(way(fresh(thing, kind)))), way) for w, way in ways.items() if w == "cloudpickle" or not takes_less(kind, w)}
        else:
            sent = {w: functools.partial(lambda submit: submit(there, cloudpickle.dumps((thing, use))).result(), submit) for w, submit in pools.items()}
        for way, run in sent.items():
            try:
                got = run()
                if got != want:
                    failed.append((way, thing, got, want))
            except Exception as e:
                failed.append((way, thing, repr(e)[:300]))
    for f in failed:
        print(*f)
    print(len(THINGS), "things")
'''


@pytest.mark.parametrize("where", ["here", "elsewhere"])
@pytest.mark.parametrize("runner", [("-m", "plait"), ()], ids=["plait", "python"])
def test_everything_arrives(run_python, tmp_path, runner, where):
    script = tmp_path / "things.py"
    script.write_text(SCRIPT)
    out = run_python(None, *runner, str(script), where, env={"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": os.environ["PYTHONPATH"]})
    assert out.returncode == 0, out.stderr
    lines = out.stdout.strip().splitlines()
    assert lines == ["53 things"], "\n".join(lines)
