"""Configurations of Plait, and a worker process for each."""
import os
import pickle
import pathlib
import select
import subprocess
import sys
import time

from worker import write_frame

# name: (environment, every how many programs it is asked, group). Configurations of one group must give the same bits.
CONFIGS = {
    "interp-1": ({"PLAIT_JIT": "off", "PLAIT_NUM_THREADS": "1", "PLAIT_PLAN": "always", "PLAIT_EAGER_LIMIT": "0"}, 1, "fused"),
    "interp-2": ({"PLAIT_JIT": "off", "PLAIT_NUM_THREADS": "2", "PLAIT_TEAM": "always", "PLAIT_PLAN": "always", "PLAIT_EAGER_LIMIT": "0"}, 2, "fused"),
    "jit-1": ({"PLAIT_JIT": "blocking", "PLAIT_NUM_THREADS": "1", "PLAIT_PLAN": "always", "PLAIT_EAGER_LIMIT": "0"}, 8, "fused"),
    "jit-2": ({"PLAIT_JIT": "blocking", "PLAIT_NUM_THREADS": "2", "PLAIT_TEAM": "always", "PLAIT_PLAN": "always", "PLAIT_EAGER_LIMIT": "0"}, 8, "fused"),
    "direct": ({"PLAIT_FUSE": "0", "PLAIT_NUM_THREADS": "2", "PLAIT_EAGER_LIMIT": "0"}, 2, "direct"),
    # Plans what pays, which is little here, so that most is evaluated an operation at a time: to the bits of a plan.
    "auto": ({"PLAIT_JIT": "off", "PLAIT_EAGER_LIMIT": "0"}, 1, "fused"),
    # Lines that come by again, as in a loop, are computed at once.
    "again": ({"PLAIT_JIT": "off", "PLAIT_EAGER_LIMIT": "2", "PLAIT_FUZZ_ROUNDS": "3"}, 4, "fused"),
    "default": ({}, 1, "default"),
}
# Asked only by name: need a GPU, or the double of the driver.
ON_REQUEST = {
    "cuda": ({"PLAIT_DEVICE": "cuda", "PLAIT_EAGER_LIMIT": "0"}, 1, "device"),
    "cuda-default": ({"PLAIT_DEVICE": "cuda"}, 1, "device"),
}


class Crash(Exception):
    pass


class Worker:
    """One live process. After a crash or a timeout it is started again by the next send."""

    def __init__(self, module, env, timeout=60):
        self.module, self.env, self.timeout = module, env, timeout
        self.process = None

    def start(self):
        to_child, child_out = os.pipe(), os.pipe()
        here = pathlib.Path(__file__).with_name("worker.py")
        env = dict(os.environ, OMP_WAIT_POLICY="passive", **self.env)
        command = [sys.executable, str(here), self.module, str(to_child[0]), str(child_out[1])]
        self.process = subprocess.Popen(command, pass_fds=(to_child[0], child_out[1]), env=env, stderr=subprocess.PIPE)
        os.close(to_child[0])
        os.close(child_out[1])
        self.source, self.sink = os.fdopen(child_out[0], "rb", buffering=0), os.fdopen(to_child[1], "wb")
        self.counts = self.receive()["counts"]

    def send(self, lines):
        if self.process is None:
            self.start()
        try:
            write_frame(self.sink, lines)
        except BrokenPipeError:
            pass  # receive() reports how the process ended

    def receive(self):
        buffered, end = b"", time.monotonic() + self.timeout
        need = 8
        while len(buffered) < need:
            if not select.select([self.source], [], [], max(0, end - time.monotonic()))[0]:
                self.stop()
                raise Crash(f"no answer in {self.timeout} s")
            chunk = self.source.read(min(1 << 20, need - len(buffered)))
            if not chunk:
                code = self.process.wait()
                text = self.process.stderr.read().decode(errors="replace").strip()[-600:]
                self.stop()
                raise Crash(f"process ended with {code}: {text}")
            buffered += chunk
            if need == 8 and len(buffered) == 8:
                need = 8 + int.from_bytes(buffered, "little")
        return pickle.loads(buffered[8:])

    def run(self, lines):
        self.send(lines)
        return self.receive()

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stderr.close()
            for f in (self.source, self.sink):
                try:
                    f.close()
                except BrokenPipeError:
                    pass
            self.process = None
