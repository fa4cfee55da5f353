"""A whole file of programs for NumPy, on NumPy and, by PLAIT_DEVICE=cuda, on a device: the same output."""

import os
import pathlib
import subprocess
import sys

import pytest
from support import FAKE_NVRTC, needs_device

pytestmark = [needs_device, pytest.mark.skipif(FAKE_NVRTC, reason="takes long where every kernel takes a second")]
EVERYDAY = pathlib.Path(__file__).with_name("everyday.py")


def output(*command, **environment):
    done = subprocess.run([sys.executable, "-W", "ignore", *command], capture_output=True, text=True, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_everyday_programs_print_the_same():
    assert output("-m", "plait", EVERYDAY, PLAIT_DEVICE="cuda") == output(EVERYDAY)
