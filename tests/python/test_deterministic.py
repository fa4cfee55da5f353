"""PLAIT_DETERMINISTIC: bits that neither the CPU's level, nor the plan mode, nor what ran before decides."""

SOURCE = """
import hashlib
import numpy, plait as np
import ml_dtypes

rng = numpy.random.default_rng(1)
x = np.array(rng.standard_normal((257, 129)))
q = np.array(rng.standard_normal((4, 128, 32)).astype(numpy.float32))
z = np.array(rng.standard_normal(2001) + 1j * rng.standard_normal(2001))
b = x.astype(ml_dtypes.bfloat16)

def attention():
    s = q @ q.transpose(0, 2, 1) * numpy.float32(0.17)
    e = np.exp(s - s.max(-1, keepdims=True))
    return (e / e.sum(-1, keepdims=True)) @ q

programs = {
    "attention": attention,
    "bfloat16": lambda: b.astype(np.float32) @ b.astype(np.float32).T,
    "product": lambda: np.tanh(x @ x.T + 1).sum(0),
    "functions": lambda: np.sin(x) * np.exp(x) + np.log(abs(x)) + np.arctan2(x, x[::-1]) + abs(x) ** 1.7,
    "sums": lambda: np.concatenate([x.sum(0), x.var(1), np.cumsum(x, 1).ravel(), (x * x).mean(0)]),
    "complex": lambda: z * z + np.exp(z) / (z + 2),
}
for name, program in programs.items():
    for _ in range(3):
        print(name, hashlib.sha1(numpy.ascontiguousarray(program()).tobytes()).hexdigest())
"""
PLACES = [{}, {"PLAIT_CPU": "avx2"}, {"PLAIT_PLAN": "auto", "PLAIT_JIT": "off"}, {"PLAIT_JIT": "blocking"}, {"PLAIT_NUM_THREADS": "1"}]


def test_deterministic_gives_the_same_bits_everywhere(run_python):
    found = [run_python(SOURCE, env={"PLAIT_DETERMINISTIC": "on", **env}).stdout for env in PLACES]
    lines = found[0].splitlines()
    assert len(lines) == 18 and len(set(lines)) == 6  # the first time as later
    assert found == found[:1] * len(PLACES)
