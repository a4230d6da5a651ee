"""Loops of launches on a CPU as calls of one native function."""

from __future__ import annotations

import ctypes
import signal
import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.backend import cpu, cpu_steps
from pytocu.runtime import native, native_steps, threads
from pytocu.runtime.plan_loops import Steady, judged
from pytocu.testing.compare import compare


def heat(u, n):
    for _ in range(n):
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


def swapped(u, n):
    a = u.copy()
    b = u.copy()
    for _ in range(n):
        b[1:-1, 1:-1] = 0.25 * (a[2:, 1:-1] + a[:-2, 1:-1] + a[1:-1, 2:] + a[1:-1, :-2])
        a, b = b, a
    return a


def shallow_water(h, u, n):
    t = 0.0
    for _ in range(n):
        u[1:-1] = u[1:-1] - 0.01 * (h[2:] - h[:-2])
        h[1:-1] = h[1:-1] - 0.01 * (u[2:] - u[:-2])
        h[0], h[-1] = h[1], h[-2]
        t += 0.5
    return h, u, t


def scratch(u, n):
    for _ in range(n):
        flux = np.zeros_like(u)
        flux[1:] = u[1:] - u[:-1]
        limited = np.minimum(np.abs(flux[::-1]), 1)
        u = u - 0.1 * limited[::-1]
    return u


def backwards(u, n):
    for _ in range(n, 0, -1):
        u = np.roll(u, 1) + 1
    return u


def relaxed(u, n):
    """Loops in each step: of a few steps, of many, and with numbers of their own."""
    for _ in range(n):
        v = u.copy()
        for _ in range(3):
            v[1:-1] = 0.5 * (v[2:] + v[:-2])
        for j in range(2):
            v = np.roll(v, 1) * (1 - 0.01 * j)
        k = 1.0
        for _ in range(40):
            k = k * 0.5
            v[1:-1] = v[1:-1] + 0.25 * (v[2:] - 2 * v[1:-1] + v[:-2])
        u = u + k * v
    return u


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).random(shape)


PROGRAMS: list[tuple[Callable[..., Any], tuple[np.ndarray, ...]]] = [
    (heat, (random(301),)),
    (heat, (random(100_000).astype(np.float32),)),
    (swapped, (random(30, 41),)),
    (swapped, (random(300, 400),)),
    (shallow_water, (random(500) + 1, random(500))),
    (scratch, (random(50_000),)),
    (backwards, (random(77),)),
    (relaxed, (random(200),)),
]


@pytest.fixture
def replayed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Steps that the native function makes, a number a loop that it makes some of."""
    seen: list[int] = []
    replay = native_steps.NativeLoop._replay

    def watched(self: Any, noted: Any, left: int, seconds: float) -> int:
        seen.append(replay(self, noted, left, seconds))
        return seen[-1]

    monkeypatch.setattr(native_steps.NativeLoop, "_replay", watched)
    return seen


@pytest.fixture
def many_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Several threads in every launch, however short it is; how many each call was given."""
    monkeypatch.setenv("PYTOCU_NUM_THREADS", "4")
    monkeypatch.setattr(threads, "_counted", (0, 0.0))
    monkeypatch.setattr(native_steps, "_SECONDS_TO_MEET", 1e-12)
    monkeypatch.setattr(native_steps, "_SECONDS_TO_TRY", 0.0)
    monkeypatch.setattr(native_steps, "_SMALLEST", 8)
    given: list[int] = []
    together = threads.together

    def watched(kernel: Any, address: int, helpers: int) -> None:
        given.append(helpers)
        together(kernel, address, helpers)

    monkeypatch.setattr(threads, "together", watched)
    yield given
    monkeypatch.setattr(threads, "_counted", (0, 0.0))


def check(function: Callable[..., Any], jitted: Any, arrays: tuple[np.ndarray, ...], steps: int) -> None:
    host, given = [a.copy() for a in arrays], [a.copy() for a in arrays]
    compare(jitted(*given, steps), function(*host, steps))
    compare(tuple(given), tuple(host))


@pytest.mark.parametrize(("function", "arrays"), PROGRAMS, ids=lambda case: case.__name__ if callable(case) else "")
def test_any_number_of_steps(function, arrays, replayed):
    jitted = pytocu.jit(function)
    for steps in (0, 1, 2, 3, 17, 18, 19, 27, 28, *(() if function is relaxed else (100, 101, 102))):
        # The first call of a signature goes the general way, others the short one.
        for _ in range(2):
            check(function, jitted, arrays, steps)
    assert len(replayed) >= 10 and all(n >= native_steps.LEAST for n in replayed)


@pytest.mark.parametrize(("function", "arrays"), PROGRAMS, ids=lambda case: case.__name__ if callable(case) else "")
def test_threads_share_every_launch(function, arrays, replayed, many_threads):
    jitted = pytocu.jit(function)
    for steps in (100, 101, 500):
        check(function, jitted, arrays, steps)
    # A step that is left over makes the loop in it native.
    assert len(replayed) == (4 if function is relaxed else 3) and set(many_threads) == {3}


def until_settled(u, tolerance):
    steps = np.int64(0)
    change = np.float64(1)
    while change > tolerance:
        new = u.copy()
        new[1:-1] = 0.5 * (u[2:] + u[:-2])
        change = np.abs(new - u).max()
        u = new
        steps = steps + 1
    return u, steps


@pytest.mark.parametrize("several", [False, True])
def test_loops_that_end_when_a_number_in_memory_says_so(several, request, monkeypatch):
    if several:
        request.getfixturevalue("many_threads")
    ended: list[int] = []
    to_the_end = native_steps.NativeLoop._to_the_end

    def watched(self: Any, noted: Any) -> int:
        ended.append(to_the_end(self, noted))
        return ended[-1]

    monkeypatch.setattr(native_steps.NativeLoop, "_to_the_end", watched)
    # So short that the native function comes back many times.
    monkeypatch.setattr(native_steps, "SECONDS_TO_RETURN", 1e-5)
    jitted = pytocu.jit(until_settled)
    seen: set[int] = set()
    for length in (8, 20, 40):
        u = np.r_[0, np.zeros(length), 1.0]
        for exponent in range(2, 24):
            wanted = until_settled(u, 10 ** (-exponent / 4))
            for _ in range(2):
                compare(jitted(u, 10 ** (-exponent / 4)), wanted)
            seen.add(int(wanted[1]))
    assert {number % 2 for number in ended} == {0, 1} and min(ended) > 0
    # Short loops, and those that end just before or behind the first period of the native function.
    assert min(seen) < 2 * native_steps.LEAST < max(seen)


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Steps that the native function makes with numbers of their own, a number a loop."""
    made: list[int] = []
    steps = native_steps.NativeLoop._computed

    def watched(self: Any, *arguments: Any) -> Any:
        found = steps(self, *arguments)
        made.append(found[0])
        return found

    monkeypatch.setattr(native_steps.NativeLoop, "_computed", watched)
    return made


def by_number(u, n):
    for i in range(n):
        u = np.roll(u, 1) + i
    return u


def by_half(u, n):
    for i in range(n, 0, -1):
        u = np.roll(u, 1) * 0.5 + i / 2.5
    return u


def of_all_kinds(u, n):
    t, k = 0.0, -7
    for i in range(3, 2 * n, 2):
        t = t + 0.25
        k = k + 3
        u = np.roll(u, 1) * -t + (i * k - i // 7 + k % -5 + -i // 3 - (-k) % 4) + -i
        t, k = t * 0.5 - 1, k
    return u, t, k


def beyond_int64(u, n):
    k = 1
    for _ in range(n):
        k = k * 3
        u = np.roll(u, 1) * 0.5 + k
    return u, k




def of_bits(u, n):
    k = -5
    for i in range(n):
        u = np.roll(u, 1) * 0.5 + ((k >> (i % 70)) & 15) + (1 << (i % 62)) % 77 + (~i & 3)
        k = (k ^ (i << 5)) * 7 % 1001 - 500
    return u, k


def powers(u, n):
    k = 0
    for i in range(n):
        u = np.roll(u, 1) * 0.5 + (k & 15)
        k = k ^ (-3) ** (i % 40) ^ 2 ** (i % 63) ^ 0 ** (i % 3) ^ (-1) ** i ^ (i + 2) ** (i % 9)
    return u, k


def shifted_beyond_int64(u, n):
    k = 1
    for _ in range(n):
        u = np.roll(u, 1) * 0.5 + (k & 3)
        k = (k << 2) | 1
    return u, k


def raised_beyond_int64(u, n):
    k = 0
    for i in range(n):
        u = np.roll(u, 1) * 0.5 + (k & 3)
        k = (i + 2) ** (i // 3)
    return u, k


def out_of_bounds(u, n):
    for i in range(n):
        u = np.roll(u, 1) + 3 * i
    return u


NUMBERS: list[tuple[Callable[..., Any], np.ndarray, int]] = [
    (by_number, random(50), 58),
    (by_number, random(50).astype(np.float32), 58),
    (by_number, np.arange(50), 58),
    (by_number, np.arange(50, dtype=np.uint16), 58),
    (by_half, random(50), 58),
    (by_half, random(50).astype(np.float32), 58),
    (of_all_kinds, random(50), 57),
    (beyond_int64, random(50), 37),
    (of_bits, random(50), 58),
    (powers, random(50), 58),
    (shifted_beyond_int64, random(50), 29),
    (raised_beyond_int64, random(50), 35),
    (out_of_bounds, np.arange(50, dtype=np.int8), 41),
]


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize(("function", "array", "native"), NUMBERS, ids=lambda case: case.__name__ if callable(case) else "")
def test_numbers_that_differ_from_step_to_step(function, array, native, several, request, computed):
    if several:
        request.getfixturevalue("many_threads")
        array = np.resize(array, 3000)
    jitted = pytocu.jit(function)
    for steps in (1, 2, 17, 18, 19, 20, 42, 60, 61):
        for _ in range(2):
            try:
                wanted = function(array.copy(), steps)
            except OverflowError as error:
                with pytest.raises(OverflowError, match=str(error)):
                    jitted(array.copy(), steps)
            else:
                compare(jitted(array.copy(), steps), wanted)
        if steps == 60:
            # Two steps before, and what has numbers that are none of int64 or of the dtype is Python's.
            assert computed[-1] == native


def grows(x, y):
    """Nothing to do in the first step, and more in each."""
    for i in range(len(x)):
        x[:i] += np.flip(y[:i])
        x[i] = x[: i + 1].sum()
    return x


def shrinks(x, y):
    for i in range(len(x) - 1, -1, -2):
        x[: i + 1] *= 1.5
        y[i:] = y[i:] + x[i - 1]
    return x, y


def solved(x, a):
    """Two loops in each step, of other lengths in every step, and lengths that are compared in each."""
    n = len(x)
    for i in range(n):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j]
    for i in range(n):
        x[i] = x[i] - a[i, :i] @ x[:i]
    return x


def between(x, y, first, last):
    """Ints of run time, which may be negative, in lengths."""
    t = 0.5
    for i in range(first, last):
        x[i:last] = y[i:last] * t + i
        t = t + 0.25
    return x, t


def taking_turns(x, y):
    for i in range(3, len(x)):
        z = x + 1
        z[:i] = y[:i] - x[i - 3]
        x, y = z, x
    return x, y


PARTS: list[tuple[Callable[..., Any], tuple[Any, ...], int]] = [
    (grows, (random(60), random(60)), 64),
    (grows, (random(60).astype(np.float32), random(60).astype(np.float32)), 64),
    (shrinks, (random(60), random(61)), 0),
    (solved, (random(40), random(40, 40) + 40 * np.eye(40)), 4096),
    (between, (random(50), random(50), 3, 47), 0),
    (between, (random(50), random(50), 0, 5), 0),
    (taking_turns, (random(50), random(50)), 0),
]


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize(("function", "arguments", "ulp"), PARTS, ids=lambda case: case.__name__ if callable(case) else "")
def test_parts_of_arrays_that_differ_from_step_to_step(function, arguments, ulp, several, request, computed):
    if several:
        request.getfixturevalue("many_threads")
    jitted = pytocu.jit(function)
    for _ in range(3):
        host, given = ([a.copy() if isinstance(a, np.ndarray) else a for a in arguments] for _ in range(2))
        expected, found = function(*host), jitted(*given)
        compare(found, expected, exact=not ulp, ulp=ulp)
        compare(tuple(given), tuple(host), exact=not ulp, ulp=ulp)
    if function is not between:
        assert computed and min(computed) > 0
        return
    # One thread's kernel makes all steps, and compares lengths; what the host repeats is about the number alone.
    names = [step[0] for step in jitted.lower(*arguments).compile("cpu").plan.steps]
    assert names.count("launch") == 1 and names.index("launch") < names.index("for")
    assert "check" not in names[names.index("for") :]


def test_lengths_that_do_not_fit_together_in_a_late_step(computed):
    def shifted(x, y, n):
        for i in range(n):
            x[i:] += y[: 40 - i]

    def indexed(x, y, n):
        for i in range(n):
            x[:i] *= 2
            if n > 0:
                x[i] = y[2 * i]

    x, y = random(40), random(60)
    for function, arguments in ((shifted, (x, y[:30], 40)), (shifted, (x, y[:25], 40)), (indexed, (x, y, 35))):
        jitted = pytocu.jit(function)
        for _ in range(2):
            host, given = (tuple(a.copy() if isinstance(a, np.ndarray) else a for a in arguments) for _ in range(2))
            with pytest.raises((ValueError, IndexError)) as wanted:
                function(*host)
            with pytest.raises(wanted.type) as found:
                jitted(*given)
            assert str(wanted.value) in str(found.value)


def settled(u, tolerance, most):
    """A loop over numbers that ends when a change is small, and what its number was."""
    k = -1
    for k in range(most):  # noqa: B007
        new = u.copy()
        new[1:-1] = 0.5 * (u[2:] + u[:-2])
        if np.abs(new - u).max() < tolerance:
            break
        u = new
    return u, k


def both_conditions(u, tolerance, most):
    k, change, relaxation = 0, np.float64(1), 1.0
    while change > tolerance and k < most:
        new = np.roll(u, 1) * (0.5 * relaxation)
        change = np.abs(new - u).max()
        u = new
        relaxation = relaxation * 0.875 + 0.125
        k += 1
    return u, k, relaxation


def cooled(u, lowest, most):
    t, k = 2.0, 0
    while t > lowest:
        u = np.roll(u, 1) * t + k
        t *= 0.875
        k += most
    return u, t, k


def counted_down(u, tolerance, most):
    k = most
    while k != 0:
        u = np.roll(u, 1) + k
        k -= 1
    while k <= 2.5 + most:
        u = np.roll(u, 1) - k
        k += 2
    return u, k


def beyond_int64_soon(u, tolerance, most):
    k, n = 1, 0
    while n < most:
        k = k * 3
        n += 1
        u = np.roll(u, 1) + k * tolerance
    return u, k, n


def powers(u, tolerance, most):
    for k in range(1, most):
        u = np.roll(u, 1) * (1 - 0.9**k) + 1.0625 ** (k - 20) + (k - 3.5) ** 2 - k**2
    return u


ENDING = [settled, both_conditions, cooled, counted_down, beyond_int64_soon, powers]


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("function", ENDING)
def test_numbers_of_loops_that_a_truth_value_ends(function, several, request, monkeypatch, computed):
    if several:
        request.getfixturevalue("many_threads")
    monkeypatch.setattr(native_steps, "SECONDS_TO_RETURN", 1e-5)
    jitted = pytocu.jit(function)
    u = random(3000 if several else 30)
    for steps in (0, 1, 2, 3, 4, 5, 6, 7, 41, 60, 61, 200):
        for tolerance in (1e-1, 1e-3, 1e-6):
            for _ in range(2):
                compare(jitted(u, tolerance, steps), function(u, tolerance, steps))
    assert computed and min(computed) > 0


def test_a_step_of_a_loop_that_a_truth_value_ends_goes_wrong():
    def walked(u, places, most):
        k, total = 0, np.float64(0)
        while k < most and total < 1e6:
            u = np.roll(u, 1) + u[places].sum()
            total = total + 1
            k += 1
            places = places + 1
        return u, k

    jitted, u, places = pytocu.jit(walked), random(90), np.arange(3)
    for _ in range(2):
        compare(jitted(u, places, 60), walked(u, places, 60), exact=False, ulp=64)
        with pytest.raises(IndexError) as wanted:
            walked(u, places, 120)
        with pytest.raises(IndexError) as found:
            jitted(u, places, 120)
        assert str(wanted.value) in str(found.value)


def test_numbers_of_a_branch_are_computed_where_it_is_taken():
    def chosen(u, n, flag):
        for i in range(n):
            if flag:
                k = i * 3
                u = np.cumsum(u) + k
            else:
                u = u[::-1] * 1.0
        return u

    jitted, u = pytocu.jit(chosen), np.arange(30.0)
    for flag in (True, False):
        for _ in range(2):
            compare(jitted(u, 20, flag), chosen(u, 20, flag))
    (loop,) = judged(jitted.lower(u, 3, True).compile("cpu").plan).values()
    assert isinstance(loop, Steady) and loop.numbers is not None


def test_calls_in_many_threads(many_threads):
    jitted, failures = pytocu.jit(swapped), []
    fields = [random(60, 50 + n) for n in range(8)]
    wanted = [swapped(u, 200) for u in fields]

    def work(number: int) -> None:
        try:
            for _ in range(10):
                compare(jitted(fields[number], 200), wanted[number])
        except BaseException as error:
            failures.append(error)

    started = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    assert not failures


def test_arrays_without_elements():
    def turned(u, n):
        t = 0.0
        for _ in range(n):
            t += 0.5
            u = u[::-1] + 1
        return u, t

    result, t = pytocu.jit(turned)(np.zeros(0), 1000)
    assert result.shape == (0,) and t == 500.0


def test_an_interrupt_ends_a_long_loop(monkeypatch):
    jitted, u = pytocu.jit(heat), random(20_000)
    jitted(u.copy(), 100)
    calls: list[int] = []
    run = native_steps._Table.run

    def watched(self: Any, periods: int, helpers: int) -> float:
        calls.append(periods)
        if len(calls) == 6:
            signal.raise_signal(signal.SIGINT)
        return run(self, periods, helpers)

    monkeypatch.setattr(native_steps._Table, "run", watched)
    monkeypatch.setattr(native_steps, "SECONDS_TO_RETURN", 1e-3)
    # Programs that a shell has started behind itself ignore interrupts.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            jitted(u.copy(), 10**9)
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(calls) == 6
    monkeypatch.undo()
    check(heat, jitted, (u,), 50)


def test_the_function_stands_in_the_object_code():
    lowered = pytocu.jit(heat).lower("f64[n]", "weak int")
    compiled = lowered.compile("cpu")
    assert cpu_steps.TEXT in compiled.source
    name = native_steps.NAME
    assert native.load(compiled.binary, [name])[name] > 0
    assert [type(loop) for loop in judged(compiled.plan).values()] == [Steady]
    assert cpu_steps.TEXT not in pytocu.jit(lambda x: x + 1).lower("f64[n]").compile("cpu").source


KERNEL = """
define void @count(ptr %slots, i64 %begin, i64 %end) {
entry:
  br label %loop
loop:
  %i = phi i64 [ %begin, %entry ], [ %next, %loop ]
  %array = load ptr, ptr %slots
  %at = getelementptr i64, ptr %array, i64 %i
  %old = load i64, ptr %at
  %new = add i64 %old, 1
  store i64 %new, ptr %at
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %end
  br i1 %more, label %loop, label %done
done:
  ret void
}
"""


@pytest.mark.parametrize("work", [1, 7, 64, 1000, 65_536])
@pytest.mark.parametrize("helpers", [0, 1, 5])
def test_every_iteration_is_run_once_a_step(work, helpers, monkeypatch):
    monkeypatch.setattr(native_steps, "_SMALLEST", 1)
    addresses = native.load(cpu.build(KERNEL + cpu_steps.TEXT), ["count", native_steps.NAME])
    kernel, driver = (threads.native(addresses[name]) for name in ("count", native_steps.NAME))
    first, second = np.zeros(work, np.int64), np.zeros(work, np.int64)
    slots = [(native_steps.ctypes.c_int64 * 1)(a.ctypes.data) for a in (first, second)]
    table = native_steps._Table(driver, [(kernel, s, work, 1) for s in (slots[0], slots[1], slots[0])])
    for periods in (1, 50, 3):
        table.run(periods, helpers)
    assert (first == 2 * 54).all() and (second == 54).all()


def by_rows(starts, columns, values, x):
    y = np.empty(starts.size - 1, values.dtype)
    for i in range(starts.size - 1):
        places = columns[starts[i] : starts[i + 1]]
        y[i] = values[starts[i] : starts[i + 1]] @ x[places]
    return y


def filled_parts(starts, columns, values, x):
    out = x.copy()
    for i in range(starts.size - 1):
        out[starts[i] : starts[i + 1]] *= values[i]
        out[: columns[i]] += x[columns[i]]
    return out


def sparse(rows: int, seed: int = 0, width: int = 50) -> tuple[np.ndarray, ...]:
    random = np.random.default_rng(seed)
    lengths = random.integers(0, 6, rows)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    return starts, random.integers(0, width, starts[-1]), random.random(starts[-1]), random.random(width)


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("function", [by_rows, filled_parts], ids=lambda f: f.__name__)
def test_lengths_that_are_read_in_steps(function: Callable[..., Any], several: bool, request, computed) -> None:
    if several:
        request.getfixturevalue("many_threads")
    jitted = pytocu.jit(function)
    plan = jitted.lower(*sparse(40)).compile("cpu").plan
    if function is filled_parts:
        # One thread's kernel goes through all steps, and reads the lengths itself.
        assert not any(step[0] in ("for", "while") for step in plan.steps)
    else:
        (loop,) = judged(plan).values()
        assert isinstance(loop, Steady) and loop.numbers is not None and loop.numbers.reads
    for rows in (40, 0, 1, 7, 300, 41):
        arguments = sparse(rows, rows)
        arguments = (arguments[0] % 47, *arguments[1:]) if function is filled_parts else arguments
        compare(jitted(*arguments), function(*arguments), exact=False, ulp=64)
    starts, columns, values, x = sparse(60, 1)
    arguments = np.int32(starts[:30] - 20), columns, values, x
    for _ in range(2):
        # The first call of a signature goes the general way, others the short one.
        compare(jitted(*arguments), function(*arguments), exact=False, ulp=64)
    if function is not filled_parts:
        assert len(computed) >= 3 and min(computed) > 20


@pytest.mark.parametrize("function", [by_rows, filled_parts], ids=lambda f: f.__name__)
def test_what_is_wrong_with_the_data_of_a_native_step_raises(function: Callable[..., Any]) -> None:
    jitted = pytocu.jit(function)
    starts, columns, values, x = sparse(200)
    jitted(starts % 47 if function is filled_parts else starts, columns, values, x)
    columns[150] = 77
    with pytest.raises(IndexError, match="index 77 is out of bounds for axis 0 with size 50"):
        jitted(starts % 47 if function is filled_parts else starts, columns, values, x)


def through_positions(u, places, n):
    for _ in range(n):
        u = 0.5 * u[places] + u[::-1]
    return u


def swapped_through_positions(u, places, n):
    for _ in range(n):
        v = u[places] + 1
        u[1:] = v[:-1] * 0.25
    return u


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("function", [through_positions, swapped_through_positions], ids=lambda f: f.__name__)
def test_native_steps_look_at_what_went_wrong(function: Callable[..., Any], several: bool, request, replayed) -> None:
    if several:
        request.getfixturevalue("many_threads")
    jitted = pytocu.jit(function)
    places = np.arange(300)[::-1] % 37
    for steps in (0, 1, 2, 40, 41, 100):
        compare(jitted(random(300), places, steps), function(random(300), places, steps))
    assert len(replayed) == 3
    places[7] = 300
    with pytest.raises(IndexError, match="index 300 is out of bounds"):
        jitted(random(300), places, 50)


def test_a_step_that_goes_wrong_late() -> None:
    def moved(u, places, n):
        for _ in range(n):
            places = places + 1
            u = u[places] + 1
        return u

    places = np.arange(20)
    compare(pytocu.jit(moved)(random(20), -places, 1), moved(random(20), -places, 1))
    with pytest.raises(IndexError, match="index 20 is out of bounds for axis 0 with size 20"):
        pytocu.jit(moved)(random(20), np.zeros(20, np.int64), 60)


def test_lengths_that_do_not_fit_in_a_native_step_raise() -> None:
    starts, columns, values, x = sparse(200)
    with pytest.raises(ValueError, match="mismatch in its core dimension 0"):
        pytocu.jit(by_rows)(starts, columns, values[:-3], x)


def histograms(images):
    found = np.zeros((len(images), 64))
    for i in range(len(images)):
        counts = np.bincount(images[i], minlength=64)
        shares = counts / counts.sum()
        found[i] = np.cumsum(shares) * shares
    return found


def growing_counts(images):
    """Results of other lengths in each step, at times longer than before."""
    total, sizes = np.zeros(4), np.zeros(len(images), np.int64)
    for i in range(len(images)):
        counts = np.bincount(images[i] + (6 - i % 7 + i // 21 * 9))
        total[i % 4] += (counts * counts).sum()
        sizes[i] = counts.size
    return total, sizes


def votes(angles, points, reach):
    """A bound of a slice that is computed, and a length of data."""
    found = np.zeros((2 * reach, len(angles)), np.int64)
    for k in range(len(angles)):
        far = np.round(points * np.cos(angles[k])).astype(np.int64) + reach
        found[:, k] = np.bincount(far, minlength=2 * reach)[: 2 * reach]
    return found


def cooling(points, tour, cuts, chances, t):
    """A part of an array between bounds in the data, and a number of Python's that goes on."""
    best = np.float64(np.inf)
    for k in range(len(cuts)):
        new = tour.copy()
        i, j = cuts[k, 0], cuts[k, 1]
        new[i : j + 1] = tour[i : j + 1][::-1]
        ways = points[new] - np.roll(points[new], -1, axis=0)
        length = np.sqrt((ways**2).sum(axis=1)).sum()
        if length < best or chances[k] < np.exp((best - length) / t):
            tour, best = new, length
        t *= 0.9375
    return tour, best, t


def other_bounds(u, steps, first):
    """Ints that the program hands on, as positions and bounds."""
    k, last = first, -1
    for _ in range(steps):
        u = np.cumsum(u[::-1]) * 0.0625
        u[:k] = u[:k] * 0.25
        u[k] = u[last:].max()
        k, last = k + 2, last - 3
    return u, k, last


def numbers_of_images(count, most, length=300):
    return np.random.default_rng(count).integers(0, most, (count, length))


READING: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (histograms, (numbers_of_images(40, 64),)),
    (histograms, (numbers_of_images(40, 64).astype(np.uint8),)),
    (growing_counts, (numbers_of_images(50, 20),)),
    (votes, (np.linspace(0, 3, 37), random(200) * 40 - 20, 25)),
    (
        cooling,
        (random(60, 2), np.random.default_rng(1).permutation(60), np.sort(numbers_of_images(70, 60, 2)), random(70), 1.0),
    ),
    (other_bounds, (random(99), 30, 3)),
]


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize(("function", "arguments"), READING, ids=lambda case: case.__name__ if callable(case) else "")
def test_lengths_of_data_and_numbers_with_names_in_native_steps(function, arguments, several, request, computed):
    if several:
        request.getfixturevalue("many_threads")
    jitted = pytocu.jit(function)
    for _ in range(3):
        host, given = ([a.copy() if isinstance(a, np.ndarray) else a for a in arguments] for _ in range(2))
        compare(jitted(*given), function(*host), exact=False, ulp=64)
        compare(tuple(given), tuple(host), exact=False, ulp=64)
    assert len(computed) >= 2 and min(computed) > 0
    if function is growing_counts:
        # A step that needs more memory than those before is the program's, and those behind it are made at once again.
        assert computed[-2:] == [20, 20]
    assert not jitted.lower(*arguments).compile("cpu").plan.library_calls()


def test_what_is_counted_in_a_late_step_is_negative():
    images = numbers_of_images(40, 64)
    jitted = pytocu.jit(histograms)
    jitted(images)
    images[33, 5] = -1
    for _ in range(2):
        with pytest.raises(ValueError, match="'list' argument must have no negative elements"):
            jitted(images)
    images[33, 5] = 64
    with pytest.raises(ValueError, match="broadcast") as wanted:
        histograms(images)
    with pytest.raises(ValueError, match="broadcast") as found:
        jitted(images)
    assert str(wanted.value) in str(found.value)


def history(A, b, tol):
    x = np.zeros_like(b)
    r = b - A @ x
    found = []
    for _ in range(len(b)):
        x = x + 0.1 * r
        r = b - A @ x
        found.append(np.sqrt(r @ r))
        if found[-1] < tol:
            break
    return x, np.array(found)


def test_lengths_are_compared_in_a_loop_that_a_truth_value_ends():
    arguments = np.eye(6) * 5 + 1, np.ones(6), 1e-9
    jitted = pytocu.jit(history)
    for _ in range(2):
        compare(jitted(*arguments), history(*arguments), exact=False, ulp=2**20)


def convolved(x, k):
    n, _, h, w = x.shape
    o, _, a, b = k.shape
    out = np.zeros((n, o, h - a + 1, w - b + 1))
    for i in range(a):
        for j in range(b):
            out += np.einsum("nchw,oc->nohw", x[:, :, i:i + h - a + 1, j:j + w - b + 1], k[:, :, i, j])
    return out


def two_layers(x, k, m):
    """How much memory a step of the second layer needs has many ends: one for each side of each minimum."""
    x = convolved(x, k)
    n, c, h, w = x.shape
    return convolved(x[:, :, :h // 2 * 2, :w // 2 * 2].reshape(n, c, h // 2, 2, w // 2, 2).max(axis=(3, 5)), m)


def test_memory_of_which_a_step_says_the_length_in_many_ways():
    arguments = random(2, 1, 14, 14), random(3, 1, 3, 3), random(4, 3, 3, 3)
    compare(pytocu.jit(two_layers)(*arguments), two_layers(*arguments), exact=False, ulp=64)


def test_a_named_number_leaves_the_array_in_a_late_step():
    jitted = pytocu.jit(other_bounds)
    for _ in range(2):
        with pytest.raises(IndexError) as wanted:
            other_bounds(random(60), 40, 3)
        with pytest.raises(IndexError) as found:
            jitted(random(60), 40, 3)
        assert str(wanted.value) in str(found.value)


def test_between_launches_there_are_no_pieces_to_take(monkeypatch: pytest.MonkeyPatch) -> None:
    """What numbers make of a record would be taken for pieces of a launch that is over."""
    drivers: list[Any] = []
    replay = native_steps.NativeLoop._replay

    def noted(self: Any, *arguments: Any) -> Any:
        drivers.append(self._driver)
        return replay(self, *arguments)

    monkeypatch.setattr(native_steps.NativeLoop, "_replay", noted)
    pytocu.jit(heat)(np.zeros(50), 100)
    under_way: list[int] = []
    kernel = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
    shared, alone = kernel(lambda *_: None), kernel(lambda *_: under_way.append(table.words[0] >> 16 & 0xFFFF))
    slots = (ctypes.c_int64 * 1)()
    table = native_steps._Table(drivers[0], [(SimpleNamespace(address=0), slots, 0, 0)] * 2)
    table.helpers = 0
    for number, (function, pieces) in enumerate(((shared, 2), (alone, 1))):
        address = ctypes.cast(function, ctypes.c_void_p).value
        table.state(number, (address, ctypes.addressof(slots), pieces, 1, pieces))
    table.run(2, 0)
    assert under_way == [2, 2]
