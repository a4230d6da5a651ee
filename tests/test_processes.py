"""Threads, processes, interrupts and memory: functions stay usable whatever happens around them."""

from __future__ import annotations

import copy
import linecache
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import process_tasks
import pytest

import pytocu
from pytocu import errors
from pytocu.runtime import results

X = np.linspace(-1, 1, 1000)


def made(number: int):
    """A new function of its own code, so that nothing of it is compiled yet."""
    space: dict[str, object] = {}
    source = f"def f{number}(x, k):\n    y = x * k + {number}\n    return np.where(y > 0, np.sqrt(np.abs(y)), y / 3)\n"
    name = f"<made {number}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    exec(compile(source, name, "exec"), {"np": np}, space)
    return pytocu.jit(space[f"f{number}"])  # pyright: ignore


# Pickles.


def test_options_travel_with_the_name():
    again = pickle.loads(pickle.dumps(process_tasks.fast))
    assert again._options == process_tasks.fast._options and again._static == {"k"}
    assert again.__wrapped__ is process_tasks.plain
    assert pickle.loads(pickle.dumps(process_tasks.fast)) is again, "all pickles of one function give one object"
    assert np.array_equal(again(X, 2), process_tasks.fast(X, 2))
    assert pickle.loads(pickle.dumps(process_tasks.decorated)) is process_tasks.decorated


def test_bound_methods_travel_with_their_object():
    apply = pickle.loads(pickle.dumps(process_tasks.Model(3.0).apply))
    assert np.array_equal(apply(X), X * 3.0 + 1)


def test_copies_are_the_function_itself():
    for function in (process_tasks.fast, process_tasks.decorated, made(90)):
        assert copy.copy(function) is function and copy.deepcopy([function])[0] is function


def test_what_has_no_name_does_not_pickle():
    def inner(x):
        return x

    for function in (pytocu.jit(lambda x: x), pytocu.jit(inner), made(91)):
        with pytest.raises(pickle.PicklingError, match="functions pickle by name, so define it at the top of a module"):
            pickle.dumps(function)


# Processes.


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_worker_processes(method, set_thread_count):
    set_thread_count(3)
    # The parent has a thread pool and compiled code, which a fork must renew or keep.
    assert process_tasks.answer(0)
    context = multiprocessing.get_context(method)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        pool = context.Pool(2)
    with pool:
        assert pool.map_async(process_tasks.answer, range(4)).get(120) == [True] * 4
        x = np.arange(5.0)
        for function, arguments in (
            (process_tasks.fast, (x, 2)),
            (process_tasks.decorated, (x, 2 - x)),
            (process_tasks.Model(2.0).apply, (x,)),
        ):
            got, process = pool.apply_async(process_tasks.call, (function, *arguments)).get(120)
            assert process != os.getpid()
            assert np.array_equal(got, function(*arguments))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forks_while_threads_compile():
    """A child must not wait for a lock of LLVM, of llvmlite or of a function that a thread of the parent holds."""
    stop = threading.Event()
    counter = iter(range(10**6))
    shared = made(10**6)
    failures: list[BaseException] = []

    def work():
        try:
            while not stop.is_set():
                number = next(counter)
                made(number)(X, 2)
                shared(X.astype(np.float32) if number % 2 else X, number % 3)
                shared._table.clear()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    children: list[int] = []
    try:
        for turn in range(12):
            time.sleep(0.01)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                child = os.fork()
            if child == 0:
                _in_child(shared, turn)
            children.append(child)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not failures
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * len(children)


def _in_child(shared, turn: int) -> None:
    signal.alarm(60)
    failed = 1
    try:
        large = np.linspace(0, 1, 400_000)
        fine = np.array_equal(shared(large, 2), shared.__wrapped__(large, 2))
        f = made(2 * 10**6 + turn)
        failed = int(not (fine and np.array_equal(f(X, 3), f.__wrapped__(X, 3))))
    finally:
        os._exit(failed)


IMPORTS = """
import linecache, os, sys, threading
import numpy as np
import pytocu
# It is what makes a fork wait.
import pytocu.deferred
from pytocu import processes

found = []

class Watch:
    def find_spec(self, name, path=None, target=None):
        # What works for another thread that waits for it is covered by that thread.
        lock = processes._mine.lock
        if not (lock is not None and lock._is_owned()) and threading.current_thread().name not in ("pytocu", "pytocu-llvm"):
            found.append(name)
        return None

sys.meta_path.insert(0, Watch())

@pytocu.jit
def steps(x, n):
    for k in range(n):
        x[1:-1] = 0.5 * (x[2:] + x[:-2])
    return x.sum(), n // 2

@pytocu.jit
def library(a, b):
    return np.linalg.solve(a, b)[::2], a.T

@pytocu.jit
def chosen(x, i, mode):
    if mode == "one":
        return x[i]
    return x[x > i], f"{mode}"

@pytocu.vectorize
def escape(c):
    z = c
    for n in range(20):
        if abs(z) > 2:
            return n
        z = z * z + c
    return 20

def attempt(function, *arguments, **keywords):
    try:
        function(*arguments, **keywords)
    except (IndexError, ValueError, TypeError, pytocu.PytocuError) as error:
        str(error)

x = np.linspace(-1, 1, 1000)
for turn in range(2):
    steps(x.copy(), 3)
    steps(x.astype("f4"), 2)
    library(np.eye(3), np.ones(3))
    attempt(library, np.zeros((2, 3)), np.ones(3))
    chosen(x, 3, mode="one")
    chosen(x, 0.5, mode="many")
    attempt(chosen, x, 2000, mode="one")
    attempt(chosen, x, "text", mode="many")
    escape(x * 1j, out=np.empty(1000, np.int64))
    attempt(escape, x, out=np.empty(7, np.int64))
    pytocu.jit(lambda p: {"a": p["x"] * 2})({"x": x})
    for _ in range(40):
        steps(x, 1)
steps.lower("f32[n]", "int")
# Not without the wheels of a GPU's compilers.
attempt(steps.precompile, "f32[n, 3]", "int", targets="cuda:sm_90")
steps.specializations
print(*dict.fromkeys(name for name in found if name.partition(".")[0] in ("pytocu", "llvmlite")))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("warm", [False, True])
def test_nothing_is_imported_where_a_fork_would_not_wait(tmp_path, warm):
    """A child would wait for ever for Python's lock of a module that a thread of the parent was importing."""
    file = tmp_path / "program.py"
    file.write_text(IMPORTS)
    environment = {**os.environ, "PYTOCU_CACHE_DIR": str(tmp_path / "cache")}
    for _ in range(1 + warm):
        done = subprocess.run([sys.executable, file], capture_output=True, text=True, check=False, env=environment)
        assert (done.returncode, done.stdout, done.stderr) == (0, "\n", "")


FIRST_CALLS = """
import os, signal, sys, threading, time, warnings
import numpy as np
import pytocu

warnings.simplefilter("ignore", DeprecationWarning)

def total(x, n):
    for k in range(n):
        x = x * 0.5 + k
    return x.sum(), np.linalg.norm(x)

def chosen(x, n):
    return x[x > n], np.eye(3) @ np.ones(3)

x = np.linspace(-1, 1, 1000)

def first_call(function):
    got, expected = pytocu.jit(function)(x, 2), function(x, 2)
    return all(np.allclose(a, b) for a, b in zip(got, expected))

answers = []
threads = [threading.Thread(target=lambda f=f: answers.append(first_call(f))) for f in (total, chosen)]
for thread in threads:
    thread.start()
children = []
while any(thread.is_alive() for thread in threads):
    time.sleep(float(sys.argv[1]))
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        os._exit(not first_call((total, chosen)[len(children) % 2]))
    children.append(child)
print(answers, sum(os.waitpid(child, 0)[1] for child in children))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("pause", ["0.001", "0.02", "0.1"])
def test_forks_during_the_first_calls_of_a_process(tmp_path, pause):
    file = tmp_path / "program.py"
    file.write_text(FIRST_CALLS)
    environment = {**os.environ, "PYTOCU_CACHE": "0"}
    command = [sys.executable, file, pause]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[True, True] 0\n", "")


# Threads.


def test_sixteen_threads_compile_and_call_the_same_and_different_functions():
    same = made(3 * 10**6)
    start = threading.Barrier(16)

    def work(number: int) -> None:
        start.wait()
        own = made(3 * 10**6 + 1 + number % 4)
        for turn in range(6):
            dtype = (np.float32, np.float64, np.int32)[turn % 3]
            x = np.arange(50 + number * turn).astype(dtype)
            for function in (same, own):
                got, expected = function(x, turn), function.__wrapped__(x, turn)
                assert got.dtype == expected.dtype and np.array_equal(got, expected)

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(work, range(16)))
    # An array of three dtypes and a length that is never 1: no thread compiled what another had.
    assert len(same.specializations) == 3


# Ctrl-C.


class _InterruptAt:
    """Raises KeyboardInterrupt in the n-th line that pytocu's own files run."""

    def __init__(self, line: int):
        self.left = line
        self.raised = False
        self.root = str(Path(pytocu.__file__).parent)

    def __call__(self, frame, event, argument):
        if not frame.f_code.co_filename.startswith(self.root) or self.raised:
            return None
        if event == "line":
            self.left -= 1
            if self.left <= 0 and not self.is_excepted(frame):
                self.raised = True
                raise KeyboardInterrupt
        return self


    def is_excepted(self, frame) -> bool:
        # A finaliser's exceptions are printed and dropped by Python.  At the end of a with block a tracer is called
        # before the lock is released, where Python itself handles no signal.
        line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
        return frame.f_code.co_name in ("__del__", "_free_released") or line.strip().startswith("with ")


def lines_of_a_compile(function) -> int:
    counter = _InterruptAt(10**9)
    sys.settrace(counter)
    try:
        function(X, 2)
    finally:
        sys.settrace(None)
    return 10**9 - counter.left


@pytest.mark.parametrize("part", range(4))
def test_an_interrupt_at_any_line_of_a_compile_leaves_the_function_usable(part, whole):
    total = lines_of_a_compile(made(4 * 10**6 + part))
    assert total > 1000
    places = np.random.default_rng(part).integers(1, total, 25 if whole else 10)
    for place in places.tolist():
        function = made(5 * 10**6 + part * 10**5 + place)
        tracer = _InterruptAt(place)
        before = sys.gettrace()
        sys.settrace(tracer)
        try:
            try:
                function(X, 2)
            except KeyboardInterrupt:
                pass
            else:
                assert not tracer.raised, f"line {place} swallowed the interrupt"
        finally:
            sys.settrace(before)
        assert np.array_equal(function(X, 2), function.__wrapped__(X, 2)), place
        assert _in_another_thread(function), f"another thread hangs after an interrupt at line {place}"


def _in_another_thread(function) -> bool:
    right: list[bool] = []
    x = X.astype(np.float32)

    def work() -> None:
        right.append(np.array_equal(function(x, 2), function.__wrapped__(x, 2)))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(60)
    return right == [True]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs interval timers")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_signals_again_and_again_leave_the_function_usable():
    """Real signals come between any two instructions, in LLVM's wrapper too."""

    def interrupt(number, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    interrupted = 0
    try:
        for turn in range(60):
            function = made(6 * 10**6 + turn)
            try:
                # The signal may come when the call is over, too.
                try:
                    signal.setitimer(signal.ITIMER_REAL, 0.0004 * (turn + 1))
                    function(X, 2)
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                interrupted += 1
            assert np.array_equal(function(X, 2), function.__wrapped__(X, 2))
            if turn % 6 == 0:
                assert _in_another_thread(function)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert interrupted > 5


INTERRUPTED = """
import signal, threading, time
{import_it}

# Programs that a shell has started behind itself ignore interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)

def work():
    time.sleep(0.2)
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
    time.sleep(0.3)
    print("finished", flush=True)

try:
    {wait}
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize(
    ("import_it", "wait"),
    [
        ("from pytocu.llvm_access import undisturbed", "undisturbed(work)"),
        ("from pytocu.ahead import Ahead", "Ahead(work).result()"),
    ],
    ids=["llvm", "ahead"],
)
def test_a_process_that_is_interrupted_ends_behind_its_compilers(import_it, wait):
    """A compiler at work while the process takes it down would end in a fault."""
    program = INTERRUPTED.format(import_it=import_it, wait=wait)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\nfinished\n", "")


# Memory that is used up.


def test_no_memory_for_a_result(monkeypatch):
    f = pytocu.jit(lambda x: x + 1)
    small = np.zeros(3, np.int8)
    huge = np.broadcast_to(small[:1], (2**50,))
    with pytest.raises(pytocu.OutOfMemoryError, match="no memory for a result: Unable to allocate") as caught:
        f(huge)
    assert isinstance(caught.value, MemoryError) and "free arrays, or work on parts" in str(caught.value)
    with pytest.raises(pytocu.OutOfMemoryError, match="no memory for a result"):
        f(huge)
    assert np.array_equal(f(small), small + 1)


def test_every_librarys_error_is_known():
    torchs = type("OutOfMemoryError", (RuntimeError,), {"__module__": "torch"})
    numbas = type("CudaAPIError", (Exception,), {"__module__": "numba.cuda.cudadrv.driver"})
    cupys = type("OutOfMemoryError", (MemoryError,), {"__module__": "cupy.cuda.memory"})
    for error, word in (
        (torchs("CUDA out of memory"), "torch.cuda.empty_cache()"),
        (cupys("Out of memory allocating 8 bytes"), "free_all_blocks()"),
        (numbas("[2] Call to cuMemAlloc results in CUDA_ERROR_OUT_OF_MEMORY"), "gc.collect()"),
    ):
        known = results.no_memory(error)
        assert isinstance(known, pytocu.OutOfMemoryError) and str(error) in str(known) and word in str(known)
    for error in (numbas("[1] Call to cuMemAlloc results in CUDA_ERROR_INVALID_VALUE"), RuntimeError("no"), ValueError("no")):
        assert results.no_memory(error) is error


# Many specialisations.


def test_many_static_values_are_named(monkeypatch):
    monkeypatch.setenv("PYTOCU_MAX_SPECIALIZATIONS", "4")
    f = pytocu.jit(lambda x, k: x * k, static="k")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for k in range(3):
            f(X, k)
    sentence = r"lambda.* has been compiled 4 times.*value of argument k \(4 kinds\)"
    with pytest.warns(pytocu.SpecializationWarning, match=sentence) as told:
        f(X, 3)
    assert told[0].filename == __file__
    assert "pass an array or a number" in str(told[0].message)
    with warnings.catch_warnings(record=True) as again:
        warnings.simplefilter("always")
        for k in range(4, 9):
            f(X, k)
    assert len(again) == 1 and "8 times" in str(again[0].message), "said again when the number has doubled"


GAIN = 1.0


def test_what_changes_is_named(monkeypatch):
    monkeypatch.setenv("PYTOCU_MAX_SPECIALIZATIONS", "3")

    def told(function, *calls) -> str:
        with pytest.warns(pytocu.SpecializationWarning) as found:
            for call in calls:
                call() if callable(call) else function(*call)
        return str(found[0].message)

    f = pytocu.jit(lambda x: x + 1)
    assert "dtype of argument x (3 kinds)" in told(f, *((X.astype(d),) for d in ("f4", "f8", "i4")))
    f = pytocu.jit(lambda x: x + 1)
    assert "number of axes of argument x (3 kinds)" in told(f, *((X.reshape(s),) for s in ((1000,), (10, 100), (10, 10, 10))))
    f = pytocu.jit(lambda x: x + 1)
    square = np.zeros((30, 30))
    assert "order of elements of argument x (3 kinds)" in told(f, (square,), (square.T,), (square[::2, ::2],))
    f = pytocu.jit(lambda x: x + 1)
    assert "axes of length 1 of argument x (3 kinds)" in told(f, (square,), (square[:1],), (square[:, :1].copy(),))
    scale = pytocu.jit(lambda x: x * GAIN)

    def with_gain(value):
        def call():
            monkeypatch.setattr(sys.modules[__name__], "GAIN", value)
            scale(X)

        return call

    text = told(scale, *(with_gain(v) for v in (1.0, 2.0, 3.0)))
    assert "captured value GAIN (3 kinds)" in text and "pass it as an argument" in text


@pytest.mark.parametrize("text", ["many", "-1", "1.5"])
def test_a_wrong_limit_is_named(monkeypatch, text):
    monkeypatch.setenv("PYTOCU_MAX_SPECIALIZATIONS", text)
    with pytest.raises(errors.PytocuError, match="PYTOCU_MAX_SPECIALIZATIONS"):
        pytocu.jit(lambda x: x - 1)(X)


def test_no_limit(monkeypatch):
    monkeypatch.setenv("PYTOCU_MAX_SPECIALIZATIONS", "0")
    f = pytocu.jit(lambda x, k: x + k, static="k")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for k in range(40):
            f(X[:3], k)
