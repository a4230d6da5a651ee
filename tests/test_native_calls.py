"""Calls of signatures that are called often: native code makes them, and answers as Python's functions do."""

from __future__ import annotations

import contextlib
import copy
import ctypes
import gc
import pickle
import struct
import sys
import threading
import traceback
import types
from collections import deque, namedtuple
from typing import Any

import numpy as np
import pytest
from driver_tools import ADDRESS, FakeDriver, Status

import pytocu
from pytocu import host_builds
from pytocu.backend import call_bodies, call_code
from pytocu.call_operations import LEAVES, OPERATIONS
from pytocu.errors import BackendError
from pytocu.runtime import access, call_frames, call_words, cuda, dispatch, host_memory, native_calls, on_cuda
from pytocu.runtime.on_cpu import MOST_ALONE, MOST_NATIVE
from pytocu.testing.compare import compare

F = np.random.default_rng(0).random((6, 8)).astype(np.float32)
V = np.random.default_rng(1).random(9)
SCALE = 2.0
Pair = namedtuple("Pair", "low high")


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second call of a signature that its class of sizes has is the last one that Python makes."""
    monkeypatch.setattr(dispatch, "CALLS_BEFORE", 1)


def records(function: Any) -> int:
    """How many signatures native code knows."""
    return 0 if function._calls is None else len(function._calls.records)


def warm(function: Any, *arguments: Any, **keywords: Any) -> Any:
    """Called often enough; each call has arguments of its own."""
    for _ in range(3):
        function(*copy.deepcopy(arguments), **copy.deepcopy(keywords))
    assert records(function) == 1
    return function


def reads_in_python(function: Any) -> list[Any]:
    """What Python is asked for from now on."""
    seen: list[Any] = []
    python = function._calls.python

    def entry(*arguments: Any, **keywords: Any) -> Any:
        seen.append((arguments, keywords))
        return python(*arguments, **keywords)

    function._calls.entry = entry
    function._calls.state[1] = id(entry)
    return seen


def listed(made: Any) -> Any:
    if isinstance(made, dict):
        return [*map(str, made), *made.values()]
    return list(made) if isinstance(made, list) else made


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def layernorm(x, eps=1e-5):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps)


def five_operations(x, y, z, a):
    return 2.5 * a * x + y * z - 1


def into(x, a, out):
    out[...] = x * a + out


def inner(u):
    u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])


def sums(x):
    return x.sum(), x.max(axis=0), [x.argmin(), x]


def pair(x):
    return Pair(np.minimum(x, 0.5), np.maximum(x, 0.5))


def named(x):
    return {"double": x + x, "half": x * 0.5, "same": x}


def of_global(x):
    return np.where(x > 0.5, SCALE * x, np.inf)


def gather(x, i):
    return x[i] * 2


def numbers(x, i, f, b):
    return x * (i + 1) + f / 4 - b, x * -f + i % 7


def narrow(x):
    return x.astype(np.float16) * 2, x.astype(np.int8) + 1


def zeroed(x):
    x = x.copy()
    x[x > 0.5] = 0
    return x


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (softmax, (F,)),
        (layernorm, (F,)),
        (five_operations, (F, F * 2, F * 3, 1.5)),
        (five_operations, (F[:, ::2], F[::-1, 1::2], F.T.copy().T[:, ::2], 3)),
        (into, (F, 2.5, F.copy())),
        (inner, (V.copy(),)),
        (sums, (F,)),
        (pair, (V,)),
        (named, (V,)),
        (of_global, (F,)),
        (gather, (V, np.array([3, -1, 0]))),
        (numbers, (V, 5, 2.5, True)),
        (numbers, (V, -(2**40), -0.0, False)),
        (numbers, (V, np.int16(7), np.float32(2.5), 3)),
        (narrow, (F,)),
        (zeroed, (F,)),
        (lambda x, z: x * z, (F.astype(np.complex64), 1 + 2j)),
        (lambda x, h: x * h, (F.astype(np.float16), np.float16(1.5))),
        (lambda x: x @ x.T, (F[:2, :3],)),
        (lambda x: np.cumsum(x), (F,)),
        (lambda x, n: x + 1 if n is None else x * 2, (V, None)),
        (lambda: np.arange(5) * 2.0, ()),
        (lambda x, i: x[i] + 1, (V, -2)),
        (lambda x, i, j: x[i:j] * 2, (V, -5, 100)),
        (lambda x, i, j: x[i:j] * 2, (V, 5, -100)),
        (lambda x, i, j: x[:, i:j].sum(axis=1), (F, 3, 3)),
        (lambda x: x[x > 0.5] * 2, (F,)),
        (lambda x: np.nonzero(x > 2), (F,)),
        (lambda x, n: (x[:n], x[n:] + n), (V, 2)),
        (lambda x: (x[1:-1, ::2], x * 2), (F,)),
        (lambda x: [x.T, x[..., None], x[::-1], x[2:2]], (F,)),
        (lambda x: x[1], (F[::-1, ::2],)),
        (lambda x: (x.real, x.imag), (F.astype(np.complex64),)),
        (lambda x: x.view(np.int32), (F,)),
        (lambda x: np.broadcast_to(x, (3, *x.shape)), (V,)),
    ],
)
def test_the_answer_is_the_same(function, arguments):
    compiled = pytocu.jit(function)
    by_python = copy.deepcopy(arguments)
    first = compiled(*by_python)
    compare(listed(first), listed(function(*copy.deepcopy(arguments))), exact=False, ulp=64)
    for _ in range(5):
        ours = copy.deepcopy(arguments)
        compare(listed(compiled(*ours)), listed(first))
        compare(ours, by_python)
    assert records(compiled) == 1


def test_results_are_new_and_arguments_are_themselves():
    compiled = warm(pytocu.jit(named), V)
    first, second = compiled(V), compiled(V)
    assert first["same"] is V and second["same"] is V
    assert not np.may_share_memory(first["double"], second["double"])


def test_python_makes_the_calls_of_other_signatures():
    compiled = warm(pytocu.jit(five_operations), F, F, F, 1.5)
    seen = reads_in_python(compiled)
    compiled(F, F, F, 2.5)
    assert not seen
    read_only = F.copy()
    read_only.flags.writeable = False
    compiled(read_only, F, F, 1.5)
    assert not seen
    others = [
        (F[:3], F[:3], F[:3], 1.5), (F[:, ::2], F[:, ::2], F[:, ::2], 1.5), (F.astype(np.float64), F, F, 1.5), (F, F, F, 2),
        (F, F, F, np.float64(2)), (F.astype(">f4"), F, F, 1.5), (F.view(np.recarray), F, F, 1.5), (F.T, F.T, F.T, 1.5),
        (F, F, F, float("nan")), (F, F, F, 1e300), (F, F, np.float32(2), 1.5), (F[:1], F, F[0], 0.5),
    ]  # fmt: skip
    for number, arguments in enumerate(others):
        try:
            expected = five_operations(*arguments)
        except Exception as error:
            with pytest.raises(type(error)):
                compiled(*arguments)
        else:
            try:
                compare(compiled(*arguments), expected)
            except pytocu.PytocuError:
                assert type(arguments[0]) is np.recarray or arguments[0].dtype.byteorder == ">"
        assert len(seen) == number + 1


def test_an_array_that_was_pickled_is_like_others():
    compiled = warm(pytocu.jit(five_operations), F, F, F, 1.5)
    seen = reads_in_python(compiled)
    x = pickle.loads(pickle.dumps(F))
    assert x.dtype is not F.dtype
    compare(compiled(x, F, x, 1.5), five_operations(x, F, x, 1.5))
    assert not seen


def test_lengths_that_do_not_fit_raise_as_before():
    compiled = warm(pytocu.jit(five_operations), F, F, F, 1.5)
    with pytest.raises(ValueError, match="could not be broadcast"):
        compiled(F, F[:2], F, 1.5)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'a'"):
        compiled(F, F, F)
    with pytest.raises(TypeError, match="takes 4 positional arguments but 5 were given"):
        compiled(F, F, F, 1.5, 2)


def test_what_must_not_be_written_is_not():
    compiled = warm(pytocu.jit(into), F, 2.0, F.copy())
    out = F.copy()
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        compiled(F, 2.0, out)
    assert (out == F).all()
    # Memory that is shared is found out at each call.
    memory = np.arange(60, dtype=np.float32)
    x, y = memory[:48].reshape(6, 8), memory[4:52].reshape(6, 8)
    theirs = memory.copy()
    into(theirs[:48].reshape(6, 8), 2.0, theirs[4:52].reshape(6, 8))
    compiled(x, 2.0, y)
    compare(memory, theirs)


def test_a_misaligned_array():
    compiled = warm(pytocu.jit(five_operations), F, F, F, 1.5)
    x = np.frombuffer(b"\0" + F.tobytes(), np.uint8)[1:].view(np.float32).reshape(F.shape)
    assert not x.flags.aligned or x.ctypes.data % 4
    with pytest.raises(pytocu.UnsupportedError, match="not aligned"):
        compiled(x, F, F, 1.5)


def test_what_was_captured_is_looked_at(monkeypatch):
    compiled = warm(pytocu.jit(of_global), F)
    seen = reads_in_python(compiled)
    compiled(F)
    assert not seen
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    compare(compiled(F), of_global(F))
    assert len(seen) == 1
    monkeypatch.setitem(globals(), "np", types.SimpleNamespace(where=np.where, inf=-1.0))
    assert compiled(F).min() == -1
    assert len(seen) == 2


def test_closures_and_attributes_are_looked_at():
    settings, factor = types.SimpleNamespace(power=2), 3.0

    def raised(x):
        return factor * x**settings.power

    compiled = warm(pytocu.jit(raised), V)
    compare(compiled(V), raised(V))
    settings.power = 3
    compare(compiled(V), raised(V), exact=False, ulp=2)
    factor = 4.0
    compare(compiled(V), raised(V), exact=False, ulp=2)


def test_python_makes_the_calls_where_objects_have_other_heads(monkeypatch):
    monkeypatch.setattr(native_calls, "_HEAD", 32)
    compiled = pytocu.jit(softmax)
    for _ in range(4):
        compare(compiled(F), softmax(F), exact=False, ulp=4)
    assert records(compiled) == 0


def test_keywords():
    def scaled(x, /, y, *, scale=2.0, shift=1.0):
        return x * scale + y - shift

    compiled = pytocu.jit(scaled)
    for _ in range(3):
        compiled(V, y=V, scale=3.0, shift=0.5)
    assert records(compiled) == 1
    seen = reads_in_python(compiled)
    compare(compiled(V, V, shift=1.5, scale=0.5), scaled(V, V, shift=1.5, scale=0.5))
    compare(compiled(V, shift=1.5, y=V, scale=0.5), scaled(V, shift=1.5, y=V, scale=0.5))
    assert not seen
    compare(compiled(V, V, shift=1.5), scaled(V, V, shift=1.5))
    compare(compiled(V, V), scaled(V, V))
    assert len(seen) == 2
    for arguments, keywords in (
        ((V, V, 3.0, 0.5), {}), ((V,), {"x": V, "scale": 1.0, "shift": 2.0}), ((V, V), {"y": V, "scale": 1.0, "shift": 2.0}),
        ((V, V), {"scale": 1.0, "nothing": 2.0}), ((), {"x": V, "y": V, "scale": 1.0, "shift": 2.0}),
        ((V,), {"scale": 1.0, "shift": 2.0}),
    ):  # fmt: skip
        with pytest.raises(TypeError) as ours:
            compiled(*arguments, **keywords)
        with pytest.raises(TypeError) as theirs:
            scaled(*arguments, **keywords)
        assert str(ours.value).partition("() ")[2] == str(theirs.value).partition("() ")[2]


def test_arguments_that_are_left_out():
    compiled = pytocu.jit(layernorm)
    for _ in range(3):
        compiled(F)
    assert records(compiled) == 1
    seen = reads_in_python(compiled)
    compare(compiled(F), layernorm(F), exact=False, ulp=64)
    assert not seen
    compare(compiled(F, 0.5), layernorm(F, 0.5), exact=False, ulp=64)
    assert len(seen) == 1


def test_what_the_data_does_not_allow_is_raised_at_the_line():
    i = np.array([1, 2])
    compiled = warm(pytocu.jit(gather), V, i)
    with pytest.raises(IndexError, match="index 70 is out of bounds for axis 0 with size 9") as caught:
        compiled(V, np.array([1, 70]))
    assert "return x[i] * 2" in str(caught.value)
    assert [f.name for f in traceback.extract_tb(caught.tb)] == [sys._getframe().f_code.co_name]
    compare(compiled(V, i), gather(V, i))


def test_no_memory(monkeypatch):
    compiled = warm(pytocu.jit(five_operations), F, F, F, 1.5)
    record = compiled._calls.records[0]

    def full(*_: Any) -> None:
        raise MemoryError("no memory")

    # The function that makes the result is one of the objects that the record names.
    (place,) = (n for n in range(8, 8 + record.memory[3]) if record.memory[n] == id(np.empty))
    record.memory[place] = id(full)
    compare(compiled(F, F, F, 1.5), five_operations(F, F, F, 1.5))


def test_references_are_given_back():
    x, i = F.copy(), np.array([1, 2])
    v = x[0].copy()
    several = [
        (softmax, (x,)), (sums, (x,)), (named, (x,)), (gather, (x[0], i)), (lambda x: (x[1:], x.T), (x,)),
        (lambda x, i: x[i:] * x[i], (v, 3)), (lambda x: x[x > 0.5], (v,)), (lambda x, s: x * s.factor, (v, Scaled(2.5))),
        (lambda x, dtype: x.astype(dtype), (v, np.dtype("f8"))), (lambda x, n: x[:n], (v, 3)),
    ]  # fmt: skip
    calls = [(warm(pytocu.jit(f), *a), a) for f, a in several]
    # What compiling left in cycles holds None, too, and goes whenever the collector runs.
    gc.collect()
    for function, arguments in calls:
        before = [sys.getrefcount(a) for a in (*arguments, x.dtype, None, True, np.empty)]
        for _ in range(2000):
            function(*arguments)
        after = [sys.getrefcount(a) for a in (*arguments, x.dtype, None, True, np.empty)]
        assert max(abs(a - b) for a, b in zip(before, after, strict=True)) < 20


def test_functions_go_with_their_records():
    import weakref

    compiled = warm(pytocu.jit(lambda x: x + 1), V)
    builtin, gone = compiled.__call__, weakref.ref(compiled)
    del compiled
    gc.collect()
    # Whoever has the builtin can still call it.
    compare(builtin(V), V + 1)
    del builtin
    gc.collect()
    assert gone() is None


def test_few_signatures_are_kept():
    compiled = pytocu.jit(lambda x: x * 2)
    for n in range(2, 12):
        for _ in range(4):
            compare(compiled(np.arange(float(n))), np.arange(float(n)) * 2)
    assert records(compiled) == native_calls.MOST_RECORDS
    chain, at = 0, compiled._calls.state[0]
    while at:
        chain, at = chain + 1, ctypes.c_uint64.from_address(at).value
    assert chain == native_calls.MOST_RECORDS


def test_threads_call_and_are_promoted_at_once():
    compiled = pytocu.jit(five_operations)
    wrong: list[Any] = []

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for _ in range(300):
            n = int(rng.integers(2, 9))
            x, a = rng.random((3, n), np.float32), float(rng.random())
            if not np.array_equal(compiled(*x, a), five_operations(*x, a)):
                wrong.append((n, a))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and records(compiled) == native_calls.MOST_RECORDS


def test_threads_and_signatures_that_change(whole):
    def of_all(x, least, n, scaled, kind):
        return x[x > least] * scaled.factor, x[n:], (x[n] + 1).astype(kind)

    compiled = pytocu.jit(of_all)
    wrong: list[Any] = []

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for _ in range(200 if whole else 60):
            x = rng.random(int(rng.integers(3, 6)) * 2)
            x = (x, x.astype(np.float32), x[::2], x[::-1])[rng.integers(4)]
            x.flags.writeable = bool(rng.integers(2))
            scaled, kind = Scaled((2.0, 3.0)[rng.integers(2)]), (np.float32, np.int8)[rng.integers(2)]
            arguments = x, float(rng.random()) + 0.5, int(rng.integers(-3, 4)), scaled, kind
            outcomes: list[Any] = []
            for function in (of_all, compiled):
                try:
                    outcomes.append(function(*arguments))
                except IndexError as error:
                    outcomes.append(str(error).splitlines()[0])
            if isinstance(outcomes[0], str) or isinstance(outcomes[1], str):
                if outcomes[0] != outcomes[1]:
                    wrong.append(outcomes)
                continue
            for expected, made in zip(*outcomes, strict=True):
                same = expected.dtype == made.dtype and np.array_equal(expected, made)
                if not same or expected.flags.writeable != made.flags.writeable:
                    wrong.append(outcomes)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and records(compiled) == native_calls.MOST_RECORDS


def test_the_switch(monkeypatch):
    monkeypatch.setenv("PYTOCU_NATIVE_CALLS", "0")
    compiled = pytocu.jit(five_operations)
    for _ in range(5):
        compiled(F, F, F, 1.5)
    assert records(compiled) == 0


def test_code_that_cannot_be_loaded_is_said_once(monkeypatch):
    def refuse() -> bytes:
        raise BackendError("the system does not let code be run")

    monkeypatch.setattr(host_builds, "calls", refuse)
    monkeypatch.setattr(native_calls, "_code", native_calls.code())
    compiled = pytocu.jit(five_operations)
    with pytest.warns(RuntimeWarning, match="longer than they need to: the system does not let code be run"):
        for _ in range(5):
            compiled(F, F, F, 1.5)
    again = pytocu.jit(five_operations)
    for _ in range(5):
        compare(again(F, F, F, 1.5), five_operations(F, F, F, 1.5))
    assert records(again) == 0


def test_it_is_built_once_on_a_machine(monkeypatch, tmp_path):
    monkeypatch.setenv("PYTOCU_CACHE_DIR", str(tmp_path / "cache"))
    first = host_builds.calls()
    monkeypatch.setattr("pytocu.backend.cpu.build", lambda *_: pytest.fail("it was built again"))
    assert host_builds.calls() == first
    for file in (tmp_path / "cache").rglob("*"):
        if file.is_file():
            file.write_bytes(file.read_bytes()[:-1] + b"x")
    monkeypatch.undo()
    monkeypatch.setenv("PYTOCU_CACHE_DIR", str(tmp_path / "cache"))
    assert host_builds.calls() == first, "damage is built anew"


def test_ints_of_the_call_are_indices_and_bounds():
    def part(x, i, j):
        return x[i:j] * 2, x[j]

    compiled = warm(pytocu.jit(part), V, 1, 3)
    seen = reads_in_python(compiled)
    for i in (*range(-12, 13), 2**31, -(2**62), 2**63 - 1, -(2**63)):
        for j in range(-9, 9):
            compare(listed(compiled(V, i, j)), listed(part(V, i, j)))
    assert not seen
    for i, j in ((0, 9), (1, -10), (1, 2**40)):
        with pytest.raises(IndexError, match=f"index {j} is out of bounds for axis 0 with size 9") as caught:
            compiled(V, i, j)
        assert "x[j]" in str(caught.value)
    assert len(seen) == 3
    with pytest.raises(TypeError):
        compiled(V, 1.5, 2)


def test_lengths_that_are_read():
    def chosen(x, least):
        return x[x > least] * 2

    compiled = warm(pytocu.jit(chosen), V, 0.5)
    seen = reads_in_python(compiled)
    for least in (*V, -1.0, 2.0):
        compare(compiled(V, least.item() if isinstance(least, np.float64) else least), chosen(V, least))
    assert not seen

    def last(x, least):
        return x[x > least][-1]

    compiled = warm(pytocu.jit(last), V, 0.5)
    compare(compiled(V, 0.5), last(V, 0.5))
    with pytest.raises(IndexError, match="index -1 is out of bounds for axis 0 with size 0"):
        compiled(V, 2.0)

    # What was changed before a length is read is not changed again.
    def counted(x, count):
        count += 1
        return x[x > 0.5]

    compiled = pytocu.jit(counted)
    count = np.zeros(3)
    for n in range(1, 8):
        compare(compiled(V, count), V[V > 0.5])
        assert (count == n).all()
    assert records(compiled) == 0


def test_many_iterations_are_given_to_threads():
    x = np.random.default_rng(3).random(200_000)
    compiled = pytocu.jit(lambda x, n: x[:n] * 2)
    for _ in range(4):
        compare(compiled(x, 100), x[:100] * 2)
    assert records(compiled) == 1
    seen = reads_in_python(compiled)
    compare(compiled(x, 190_000), x[:190_000] * 2)
    assert len(seen) == 1
    compare(compiled(x, 1000), x[:1000] * 2)
    assert len(seen) == 1
    # Two pieces would be one thread's; with one element more another thread may have something to do.
    compare(compiled(x, MOST_ALONE), x[:MOST_ALONE] * 2)
    assert len(seen) == 1
    compare(compiled(x, MOST_ALONE + 1), x[: MOST_ALONE + 1] * 2)
    assert len(seen) == 2


def test_one_thread_needs_no_python_between_its_launches(set_thread_count):
    def steps(x):
        for _ in range(3):
            new = x.copy()
            new[1:-1] = x[2:] - x[:-2]
            x = new
        return x

    x = np.random.default_rng(4).random(MOST_ALONE + 1)
    set_thread_count(1)
    compiled = warm(pytocu.jit(steps), x)
    seen = reads_in_python(compiled)
    compare(compiled(x), steps(x))
    assert len(seen) == 0
    # Another thread can help.
    set_thread_count(2)
    compare(compiled(x), steps(x))
    assert len(seen) == 1
    set_thread_count(1)
    compare(compiled(x), steps(x))
    assert len(seen) == 1


def test_memory_that_kernels_alone_see_is_given_back_between_launches(set_thread_count, monkeypatch):
    def highest(x):
        for _ in range(6):
            x = np.maximum.accumulate(0.5 - x[1:])
        return x

    set_thread_count(1)
    x = np.random.default_rng(4).random(MOST_ALONE + 99)
    compiled = warm(pytocu.jit(highest), x)
    monkeypatch.setattr(host_memory, "_blocks", deque())
    seen = reads_in_python(compiled)
    compare(compiled(x), highest(x))
    assert (len(seen), len(host_memory._blocks)) == (0, 2)


@pytest.mark.parametrize(("threads", "size", "native"), [(2, MOST_ALONE + 1, 0), (1, MOST_NATIVE + 1, 0), (1, MOST_NATIVE, 1)])
def test_long_launches_are_begun_by_python(set_thread_count, threads, size, native):
    set_thread_count(threads)
    compiled = pytocu.jit(lambda x: x + 1)
    x = np.zeros(size, np.uint8)
    for _ in range(4):
        compiled(x)
    assert records(compiled) == native


def test_kernels_that_are_given_constants_are_started_by_native_code():
    @pytocu.jit
    def counted(x, mask, rows):
        count = 0
        for k in range(len(x)):
            if mask[k]:
                x[k] = rows[count]
                count += 1
        return x

    seen = reads_in_python(warm(counted, F.copy(), V[:6] > 0.5, F[:6] * 2))
    x = F.copy()
    assert (counted(x, V[:6] > 0.5, F * 2)[V[:6] > 0.5] == F[: (V[:6] > 0.5).sum()] * 2).all() and not seen


def test_a_sum_of_two_pieces_is_made_by_native_code():
    x = np.random.default_rng(3).random(100_003)
    compiled = pytocu.jit(lambda x: x.sum())
    expected = compiled(x)
    for _ in range(4):
        compare(compiled(x), expected)
    assert records(compiled) == 1


def test_operations_behind_which_python_may_make_the_call():
    bodies = call_bodies.BODIES
    assert {n for n in OPERATIONS if "need " in bodies.get(n, "") or "%miss" in bodies.get(n, "")} == LEAVES
    compiler = call_words.Compiler([], [], 0)
    compiler.words.committed = True
    with pytest.raises(call_frames.NotNative, match="same behind a kernel"):
        compiler.words.emit("same", 0, 0)


def test_every_operation_has_code():
    assert set(call_bodies.BODIES) == set(OPERATIONS) - {"return"}
    assert all(f"label %do.{name}" in call_code.text() for name in OPERATIONS)


# On a GPU that only looks like one: what is launched.


@pytest.fixture
def cupy(monkeypatch):
    """A library that looks like CuPy, and a driver whose launch native code can call."""
    made = FakeDriver()
    python = made.launch_ex
    signature = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4)
    made.launch_ex = signature(python)
    made.handles = iter(range(500, 600))
    made.do_GetErrorName = lambda status: (Status(status).name.encode(),)
    made.do_ModuleLoadData = lambda *_: (77,)
    made.do_ModuleGetFunction = lambda *_: (next(made.handles),)
    monkeypatch.setattr(cuda, "_bindings", made)
    monkeypatch.setattr(cuda, "_primary", {})
    monkeypatch.setattr(cuda, "_archs", {0: "sm_90", 1: "sm_80"})

    class ndarray:
        pointers = iter(range(ADDRESS + 2**20, ADDRESS + 2**30, 4096))

        def __init__(self, shape, dtype, device=0):
            self.shape, self.dtype = shape, np.dtype(dtype)
            self.strides = np.empty(shape, dtype).strides
            self.data = types.SimpleNamespace(ptr=next(self.pointers), device_id=device)
            self.flags = types.SimpleNamespace(c_contiguous=True, f_contiguous=len(shape) < 2)
            self._c_contiguous = True

    ndarray.__module__, ndarray._c_contiguous = "cupy", True
    stream = types.SimpleNamespace(ptr=99)
    module = types.ModuleType("cupy")
    module.ndarray, module.stream = ndarray, stream
    module.empty = lambda shape, dtype, order: ndarray(shape, dtype)
    module.cuda = types.SimpleNamespace(
        get_current_stream=lambda *_: module.stream, Device=lambda _: contextlib.nullcontext()
    )
    monkeypatch.setitem(sys.modules, "cupy", module)
    module.driver = made
    yield module
    gc.collect()
    cuda._retired.clear()


def launched(driver: FakeDriver) -> tuple[Any, ...]:
    """The last launch: kernel, grid, block, stream, and its parameters as words."""
    name, kernel, *lengths, _, stream, table, _ = driver.log[-1]
    assert name == "cuLaunchKernel"
    return kernel, tuple(lengths), stream, table


def test_a_launch_for_a_gpu(cupy, monkeypatch):
    driver = cupy.driver
    seen: list[Any] = []
    python = FakeDriver.launch_ex

    def launch(configuration: int, kernel: Any, table: int, extra: int) -> int:
        words = (ctypes.c_void_p * 6).from_address(table)
        kinds = [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_float, ctypes.c_uint64, ctypes.c_int32]
        seen.append([kind.from_address(word).value for kind, word in zip(kinds, words, strict=True)])
        return int(python(driver, configuration, kernel, table, extra))

    driver.launch_ex = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4)(launch)
    compiled = pytocu.jit(five_operations)
    x, y, z = (cupy.ndarray((1000,), "f4") for _ in range(3))
    made = [compiled(x, y, z, 1.5) for _ in range(4)]
    assert records(compiled) == 1
    assert [m.shape for m in made] == [(1000,)] * 4
    by_python, by_native = seen[1], seen[-1]
    assert by_native[:4] == by_python[:4] == [x.data.ptr, y.data.ptr, z.data.ptr, 3.75]
    assert by_native[4] == made[-1].data.ptr and by_native[5] == by_python[5] == 1000
    entries = [entry for entry in driver.log if entry[0] == "cuLaunchKernel"]
    assert entries[-1][:9] == entries[1][:9] and entries[-1][9] == 99
    asked = reads_in_python(compiled)
    cupy.stream.ptr = 44
    compiled(x, y, z, -2.0)
    assert not asked and driver.log[-1][9] == 44 and seen[-1][3] == -5.0
    # Other lengths, memory that does not lie in order, another device: Python looks at these.
    compiled(*(cupy.ndarray((500,), "f4") for _ in range(3)), 1.5)
    assert len(asked) == 1
    x.dtype = np.dtype("f8")
    compiled(x, y, z, 1.5)
    x.dtype = np.dtype("f4")
    x.data.device_id = 1
    with pytest.raises(pytocu.PytocuError, match="device"):
        compiled(x, y, z, 1.5)
    assert len(asked) == 3


def test_a_launch_for_a_gpu_that_the_driver_refuses(cupy):
    driver = cupy.driver
    compiled = pytocu.jit(five_operations)
    x = cupy.ndarray((1000,), "f4")
    for _ in range(4):
        compiled(x, x, x, 1.5)
    driver.fails["cuLaunchKernel"] = Status.CUDA_ERROR_LAUNCH_FAILED
    with pytest.raises(pytocu.DeviceLostError, match="launching five_operations"):
        compiled(x, x, x, 1.5)


def test_text_that_python_has_to_run_is_left_to_it():
    compiler = call_words.Compiler([], [], 0)
    for text in ("del x\nx += 1", "x = yield", "while True: pass", "x = f(*y)", "x = a < b", "return undefined"):
        with pytest.raises(call_frames.NotNative):
            for statement in __import__("ast").parse(text).body:
                compiler.statement(statement)


def test_native_text_is_written_for_every_library():
    plan = pytocu.jit(five_operations).lower("f32[n]", "f32[n]", "f32[n]", "weak float").compile("cpu").plan
    text = access.native_access("numpy", "cpu", plan, lambda _: None)  # pyright: ignore
    assert text.pointer == "p{n}" and text.launch.startswith("launch(")


def test_temporaries_of_a_call_for_a_gpu_are_kept_for_captures(cupy, monkeypatch):
    kept: list[Any] = []
    monkeypatch.setattr(on_cuda.graphs, "keep_for_replays", lambda stream, arrays: kept.append((stream, len(arrays))))
    compiled = pytocu.jit(lambda x: (x - x.mean()) / x.std())
    x = cupy.ndarray((300_000,), "f4")
    for _ in range(4):
        compiled(x)
    assert records(compiled) == 1
    seen, by_python = reads_in_python(compiled), kept[1]
    kept.clear()
    compiled(x)
    assert not seen and kept == [by_python] and by_python[1] > 1


@pytest.mark.parametrize("version, early", [(12020, False), (12030, True)])
def test_kernels_for_a_gpu_behind_others_may_begin_early(cupy, monkeypatch, version, early):
    driver, seen = cupy.driver, []
    python = FakeDriver.launch_ex

    def launch(configuration: int, kernel: Any, table: int, extra: int) -> int:
        *_, attributes, count = struct.unpack_from("@7IPPI", (ctypes.c_char * 56).from_address(configuration))
        seen.append((kernel, struct.unpack_from("@i4xi", (ctypes.c_char * 72).from_address(attributes)) if count else ()))
        return int(python(driver, configuration, kernel, table, extra))

    driver.launch_ex = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4)(launch)
    driver.do_DriverGetVersion = lambda: (version,)
    compiled = pytocu.jit(lambda x: (x - x.mean()) / x.std())
    x = cupy.ndarray((300_000,), "f4")
    compiled(x)
    count = driver.names().count("cuLaunchKernel")
    seen.clear()
    for _ in range(3):
        compiled(x)
    assert records(compiled) == 1 and len(seen) == 3 * count
    of_python, of_native = seen[:count], seen[-count:]
    # Whoever launches first waits for all that is before it.
    expected = [(), *[(6, 1) if early else ()] * (count - 1)]
    assert [attributes for _, attributes in of_python] == expected
    assert of_native == of_python


def test_functions_of_scalars():
    @pytocu.vectorize
    def steps(n, most):
        count = 0
        while n != 1 and count < most:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            count += 1
        return count

    n = np.arange(1, 40)
    expected = np.array([steps.__wrapped__(int(k), 50) for k in n])
    for _ in range(4):
        compare(steps(n, 50), expected)
    assert records(steps) == 1
    seen, out = reads_in_python(steps), np.zeros_like(n)
    compare(steps(n, 50), expected)
    assert not seen
    assert steps(n, 50, out=out) is out and len(seen) == 1
    compare(out, expected)


def test_views_share_the_memory_and_say_whose():
    compiled = warm(pytocu.jit(lambda x: (x[1:], x.T)), F)
    seen, x = reads_in_python(compiled), F.copy()
    part, turned = compiled(x)
    assert not seen and part.base is x and turned.base is x and part.flags.writeable
    part[0, 0], turned[1, 0] = 7.0, 8.0
    assert x[1, 0] == 7 and x[0, 1] == 8
    before = sys.getrefcount(x)
    del part, turned
    assert sys.getrefcount(x) == before - 2
    x.flags.writeable = False
    assert not any(made.flags.writeable for made in compiled(x))
    # A view of a view has its base, as NumPy's.
    assert compiled(x[:])[0].base is x
    strided = warm(pytocu.jit(lambda x: x[1:]), F[:, ::2])
    compare(strided(F[:, ::2]), F[1:, ::2])


class Scaled:
    """Methods that are compiled."""

    def __init__(self, factor: Any, name: str = "wide"):
        self.factor, self.name, self.count = factor, name, 70_000

    @pytocu.jit
    def by(self, x):
        return np.divide(1, x * self.factor) if self.name == "wide" else x - self.factor

    @pytocu.jit
    def shifted(self, x):
        return x + self.count


def test_methods():
    compiled = Scaled.by
    zero = np.zeros(3)

    def same(scaled: Scaled) -> None:
        with np.errstate(divide="ignore"):
            compare(scaled.by(zero), compiled.__wrapped__(scaled, zero))

    one = Scaled(2.0)
    for _ in range(4):
        same(one)
    assert records(compiled) == 1
    seen = reads_in_python(compiled)
    same(one)
    # Another object with the same numbers, which are other objects.
    same(Scaled(float("2"), "".join(["wi", "de"])))
    assert not seen
    others = [Scaled(-2.0), Scaled(2), Scaled(np.float64(2)), Scaled(2.0, "narrow"), Scaled(0.0), Scaled(-0.0), Scaled(True)]
    for number, other in enumerate(others, 1):
        same(other)
        assert len(seen) == number
    seen.clear()
    one.factor = 3.0
    same(one)
    one.factor = 2.0
    same(one)
    assert len(seen) == 1
    # A number that is no object of Python's own.
    for _ in range(4):
        compare(one.shifted(V), V + 70_000)
    assert records(Scaled.shifted) == 1
    one.count += 1
    compare(one.shifted(V), V + 70_001)
    del one.factor
    with pytest.raises(AttributeError, match="factor"):
        one.by(zero)

    class Derived(Scaled):
        pass

    same(Derived(2.0))


def test_objects_whose_attributes_are_computed():
    class Halved:
        whole = 4.0

        @property
        def half(self):
            return self.whole / 2

    compiled = warm(pytocu.jit(lambda x, h: x * h.half), V, Halved())
    seen, halved = reads_in_python(compiled), Halved()
    compare(compiled(V, halved), V * 2)
    assert not seen
    halved.whole = 6.0
    compare(compiled(V, halved), V * 3)
    Halved.half = property(lambda self: self.whole / 3)  # pyright: ignore[reportAttributeAccessIssue]
    compare(compiled(V, halved), V * 2)
    assert len(seen) == 2


@pytest.mark.parametrize(
    ("value", "others"),
    [
        ("a", ["b", np.str_("a")]), (1, [True, 2, 1.0]), (True, [False, 1]), (0.0, [-0.0, 1.0, float("nan"), 0]),
        (float("nan"), [0.0]), (b"a", ["a"]), (np.float32, [np.float64]), (np.dtype("f4"), [np.dtype("f8")]),
        ((1, 2), [(1, 3), (True, 2), (1,)]), (len, [repr]), (np.float32(2), [np.float64(2), 2.0]), (1j, [-1j]), (None, [1]),
        ([1, 2], [[2, 1]]), ({"a": 1}, [{"a": 1.0}]), (slice(1, 2), [slice(1, 3)]), (2**70, [2**71]),
    ],
)  # fmt: skip
def test_values_are_told_apart(value, others):
    compiled = pytocu.jit(static=("what",))(lambda x, what: (x + 1, f"{what!r}"))
    given = copy.deepcopy(value) if isinstance(value, (list, dict)) else value
    for _ in range(4):
        assert compiled(V, given)[1] == repr(value)
    assert records(compiled) == 1
    seen = reads_in_python(compiled)
    assert compiled(V, value)[1] == repr(value) and not seen
    for other in others:
        assert compiled(V, other)[1] == repr(other)
        assert compiled(V, value)[1] == repr(value)
    assert len(seen) == len(others)


def test_values_that_code_is_compiled_for():
    compiled = pytocu.jit(static=("axis",))(lambda x, axis=0, mode="edge": np.pad(x, 1, mode=mode).sum(axis=axis))
    for _ in range(4):
        compare(compiled(F), np.pad(F, 1, mode="edge").sum(axis=0))
    assert records(compiled) == 1
    for _ in range(4):
        compare(compiled(F, 1, "wrap"), np.pad(F, 1, mode="wrap").sum(axis=1), exact=False, ulp=4)
        compare(compiled(F), np.pad(F, 1, mode="edge").sum(axis=0))
    assert records(compiled) == 2


def test_what_was_changed_before_a_number_is_found_too_large_is_changed_once():
    def added(x, y, k):
        x += 1
        return (y * k).sum() + y

    x, y = np.zeros(5), np.ones(7, np.uint64)
    compiled = pytocu.jit(added)
    for _ in range(4):
        compiled(x.copy(), y, np.uint64(3))
    assert records(compiled) == 1
    made = compiled(x, y, np.uint64(2**63 + 5))
    assert (x == 1).all()
    compare(made, added(x.copy(), y, np.uint64(2**63 + 5)))
