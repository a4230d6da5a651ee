"""Nothing grows with the number of calls, of shapes, or of functions that come and go.

The numbers are small here.  ``PYTOCU_TEST_CALLS=1000000`` runs the long form, and ``-s`` shows the figures.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

CALLS = int(os.environ.get("PYTOCU_TEST_CALLS", "20000"))
ROOT = Path(__file__).parent.parent

pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs Linux's /proc")

PRELUDE = """
import gc, linecache, sys
import numpy as np
import pytocu

def resident():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

def executable_pages():
    with open("/proc/self/maps") as file:
        return sum(1 for line in file if " r-xp " in line and line.split()[4] == "0")

def made(number):
    source = f"def f(x):\\n    return np.where(x > {number}, np.sqrt(x) + {number}, x)\\n"
    name = f"<made {number}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    space = {"np": np}
    exec(compile(source, name, "exec"), space)
    return pytocu.jit(space["f"])
"""


def growth(where: Path, program: str, **environment: str) -> list[int]:
    """What a program of its own prints: numbers on its last line."""
    file = where / "program.py"
    file.write_text(PRELUDE + textwrap.dedent(program))
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]), "PYTHONHASHSEED": "0", **environment}
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, env=env, timeout=3600, check=False)
    assert done.returncode == 0, done.stderr
    print(f"{program.strip().splitlines()[0]} {done.stdout.strip()}")
    return [int(word) for word in done.stdout.split()]


def test_ready_calls(tmp_path):
    (grown,) = growth(
        tmp_path,
        f"""
        # {CALLS} calls of one signature: bytes grown
        f = pytocu.jit(lambda x, y: np.maximum(x, y) * 2 + 1)
        x, y = np.ones(100, np.float32), np.zeros(100, np.float32)
        for _ in range(2000): f(x, y)
        before = resident()
        for _ in range({CALLS}): f(x, y)
        print(resident() - before)
        """,
    )
    # A leak of one small object a call would be a hundred times more in the long form.
    assert grown < 400_000 + CALLS // 4


def test_many_shapes(tmp_path):
    (grown,) = growth(
        tmp_path,
        f"""
        # {CALLS} calls, each of another shape: bytes grown
        f = pytocu.jit(lambda x: x * 2 + 1)
        x = np.ones(4_000_000, np.int8)
        # The table of shapes has been full and emptied.
        for n in range(2, 10_000): f(x[:n])
        before = resident()
        for n in range(10_000, 10_000 + {CALLS}): f(x[:n])
        print(resident() - before)
        """,
    )
    assert grown < 3_000_000


def test_large_calls_and_threads(tmp_path):
    (grown,) = growth(
        tmp_path,
        f"""
        # {max(CALLS // 100, 200)} calls over the thread pool, and as many threads that call: bytes grown
        import threading
        f = pytocu.jit(lambda x: np.sqrt(x) * 2 + 1)
        large, small = np.ones(400_000), np.ones(10)
        def call():
            thread = threading.Thread(target=f, args=(small,))
            thread.start(); thread.join(); f(large)
        for _ in range(100): call()
        before = resident()
        for _ in range({max(CALLS // 100, 200)}): call()
        print(resident() - before)
        """,
        PYTOCU_NUM_THREADS="3",
    )
    assert grown < 4_000_000


def test_functions_that_come_and_go_leave_no_code(tmp_path):
    """The figures of the long form are those of 500 functions."""
    number = 500 if CALLS > 100_000 else 30
    loaded, left, grown, again = growth(
        tmp_path,
        f"""
        # {number} functions compiled and dropped: pages of code while all live, pages left, bytes grown, and once more
        x = np.ones(10)
        keep = [made(-1 - k) for k in range(3)]
        for f in keep: f(x)
        before, memory = executable_pages(), resident()
        alive = [made(k) for k in range({number})]
        for f in alive: f(x)
        loaded = executable_pages() - before
        del alive, f
        gc.collect()
        left, grown = executable_pages() - before, resident() - memory
        rounds = []
        for first in ({number}, 2 * {number}):
            memory = resident()
            for k in range(first, first + {number}): made(k)(x)
            rounds.append(resident() - memory)
        for f in keep: f(x)
        # The allocator takes a piece of memory for a thread now and then; what functions leave is in every round.
        print(loaded, left, grown, min(rounds))
        """,
    )
    # A page may be one that an earlier function of the process has left.
    assert number - 2 <= loaded <= number
    assert left == 0
    # While all live they need their memory at once; one after the other they take that of those before.
    assert grown < 150_000 * number
    assert again < 20_000 * number
