"""Plans written as Python functions, and the table that finds them."""

from __future__ import annotations

import re
import threading
import types
import weakref

import numpy as np
import pytest
from raising_programs import stopped_by_an_element_or_a_number

import pytocu
from pytocu.errors import RangeError
from pytocu.guards import static_key
from pytocu.ir.dims import evaluate
from pytocu.runtime import dispatch, program_text
from pytocu.runtime.dispatch import Ready, write_dispatch
from pytocu.runtime.libraries import library_of
from pytocu.runtime.program import Program
from pytocu.runtime.templates import ANY_LIBRARY


def short(function, *types):
    exe = pytocu.jit(function).lower(*types).compile("cpu")
    return exe, exe.short_program("numpy", "cpu")


def run(program, *arguments):
    """Run a program of NumPy arrays, which takes their shapes too."""
    given = [(a, a.shape) if isinstance(a, np.ndarray) else (a,) for a in arguments]
    return program.run(*(value for values in given for value in values))


def unreachable(arguments):
    raise AssertionError(f"the general way was taken for {arguments}")


def test_the_short_way_gives_what_the_general_way_gives():
    exe, program = short(lambda x, y, s: (x + y * s, x[1:-1].T, x, s * 2, y[0, 0] * 2), "f64[n, m]", "f64[k, m]", "weak int")
    rng = np.random.default_rng(0)
    for shape in ((4, 3), (7, 5), (0, 3)):
        x, y = rng.random(shape), rng.random(shape)
        if not shape[0]:
            assert run(program, x, y, 3) is NotImplemented
            with pytest.raises(IndexError, match="index 0 is out of bounds for axis 0 with size 0"):
                exe(x, y, 3)
            continue
        for mine, theirs in zip(run(program, x, y, 3), exe(x, y, 3), strict=True):
            assert type(mine) is type(theirs)
            assert np.array_equal(mine, theirs)
        assert run(program, x, y, 3)[2] is x


def test_checks_come_before_anything_is_allocated(monkeypatch):
    _, program = short(lambda x, y: x + y, "f32[n]", "f32[m]")
    program.run.__globals__["empty"] = unreachable
    x, y = np.ones(3, np.float32), np.ones(4, np.float32)
    assert run(program, x, y) is NotImplemented
    add = pytocu.jit(lambda x, y: x + y)
    for _ in range(3):
        assert add(x, x).tolist() == [2, 2, 2]
    monkeypatch.setattr(np, "empty", unreachable)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"operands could not be broadcast together with shapes \(3,\) \(4,\) "):
            add(x, y)


def test_what_lengths_decide_is_decided_once():
    def change(x, y, out):
        out[1:] = x[1:] * 2 + y
        return out[1:]

    _, program = short(change, "f32[n]", "f32[m]", "f32[k]")
    assert program.bind is not None
    x, out = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    y = x[1:].copy()
    given = (x, x.shape, y, y.shape, out, out.shape)
    once = program.bind(*given)
    assert once is not None
    names = set(once.__code__.co_names) | set(once.__code__.co_varnames)
    assert "shape" not in names and not names & set(once.__code__.co_freevars)
    for factor in (1, 10):
        x *= factor
        assert once(*given).tolist() == (x[1:] * 2 + y).tolist()
    # Where memory lies is looked at in every call.
    assert once(*given[:4], x, x.shape) is NotImplemented
    assert once(x, x.shape, out[1:], (3,), out, out.shape) is NotImplemented
    assert program.bind(x, x.shape, x, x.shape, out, out.shape) is None


def test_nothing_bound_keeps_arrays_alive():
    _, program = short(lambda x: (x + 1, x[1:]), "f32[n]")
    x = np.zeros(3, np.float32)
    assert program.bind is not None
    once, seen = program.bind(x, x.shape), weakref.ref(x)
    assert once is not None
    del x
    assert seen() is None


def test_a_python_int_that_does_not_fit():
    _, program = short(lambda x, n: x + n, "u8[n]", "weak int")
    assert run(program, np.zeros(2, np.uint8), 255).tolist() == [255, 255]
    with pytest.raises(RangeError, match="Python integer 300 out of bounds for uint8"):
        run(program, np.zeros(2, np.uint8), 300)


def test_a_float_that_overflows_float32_is_infinite():
    _, program = short(lambda x, s: x + s, "f32[n]", "weak float")
    for value in (1e300, -1e300, np.inf, 3.4e38, 3.5e38, -3.4028236e38, np.nan):
        with np.errstate(all="ignore"):
            expected = np.zeros(1, np.float32) + value
        assert np.array_equal(run(program, np.zeros(1, np.float32), value), expected, equal_nan=True)


def test_misaligned_memory_goes_the_general_way():
    _, program = short(lambda x: x + 1, "f32[n]")
    shifted = np.frombuffer(bytearray(17), np.uint8)[1:].view(np.float32)
    assert run(program, shifted) is NotImplemented
    with pytest.raises(pytocu.PytocuError):
        pytocu.jit(lambda x: x + 1)(shifted)


@pytest.mark.parametrize(
    ("classes", "library"),
    [
        ((np.ndarray,), "numpy"),
        ((np.ndarray, float, np.float32, bool, int), "numpy"),
        ((float,), None),
        ((np.ndarray, str, type(None)), "numpy"),
        ((np.ma.MaskedArray,), None),
        ((), None),
    ],
)
def test_classes_with_a_short_way(classes, library):
    assert library_of(classes) == library


def dispatch_of(*classes, slow=unreachable, static=None):
    made = write_dispatch(classes, static or [False] * len(classes), slow, static_key)
    assert made is not None
    return made


def ready(program, *guards):
    return Ready(program, guards)


def test_the_table_is_found_by_the_exact_signature():
    _, program = short(lambda x, n: x * n, "f32[n]", "weak int")
    slow: list[tuple[object, ...]] = []
    made = dispatch_of(np.ndarray, int, slow=slow.append)
    x = np.arange(4, dtype=np.float32)
    made.remember((x, 2), ready(program))
    assert made.call(x, 3).tolist() == [0, 3, 6, 9]
    assert not slow
    for other in (x.astype(np.float64), np.arange(8, dtype=np.float32)[::2], x[:, None], x[:1]):
        made.call(other, 3)
    assert len(slow) == 4
    made.call(x, 2**63)
    assert slow[4][1] == 2**63
    made.exact.clear()
    made.classes.clear()
    made.remember((x, 2), ready(program, lambda arguments: False))
    made.call(x, 3)
    assert len(slow) == 6


def test_a_new_size_of_a_known_class_is_found_without_the_general_way():
    _, program = short(lambda x, y: x + y, "f32[n]", "f32[m]")
    made = dispatch_of(np.ndarray, np.ndarray)
    made.remember((np.ones(4, np.float32),) * 2, ready(program))
    for n in (5, 0, 100):
        x = np.arange(n, dtype=np.float32)
        assert made.call(x, x).tolist() == (x + x).tolist()
    assert len(made.exact) == 4 and len(made.classes) == 1
    with pytest.raises(AssertionError, match="the general way was taken"):
        made.call(np.ones(3, np.float32), np.ones(4, np.float32))
    assert len(made.exact) == 4


def test_a_new_size_for_which_the_facts_do_not_hold():
    wide = pytocu.jit(lambda x: x[1:] + x[:-1]).lower("i8[n]").compile("cpu", index_bits=32).short_program("numpy", "cpu")
    small, large = np.zeros(10, np.int8), np.broadcast_to(np.int8(0), 2**31)
    assert wide.suits(small, small.shape)
    assert not wide.suits(large, large.shape)
    calls: list[object] = []
    made = dispatch_of(np.ndarray, slow=calls.append)
    made.remember((small,), ready(wide))
    # A broadcast array is strided; the same length in order is too long for 32-bit offsets.
    made.call(large)
    assert len(calls) == 1


def test_strides_that_are_no_whole_elements_go_the_general_way():
    program = pytocu.jit(lambda x: x + 1).lower("f32[n; S]").compile("cpu").short_program("numpy", "cpu")
    packed = np.zeros(5, np.dtype([("a", np.int16), ("b", np.float32)]))["b"]
    whole = np.zeros(10, np.float32)[::2]
    assert program.suits(whole, whole.shape)
    assert not program.suits(packed, packed.shape)


def test_static_arguments_are_part_of_the_signature():
    seen: list[tuple[object, ...]] = []
    double = pytocu.jit(lambda x, how, none: x * 2 if how == "double" else x, static=("how",))
    x = np.arange(3, dtype=np.float32)
    for _ in range(3):
        assert double(x, "double", None).tolist() == [0, 2, 4]
        assert double(x, "same", None) is x
    made = next(iter(double._dispatch.values()))
    assert len(made.exact) == 2 and not seen


def test_arrays_that_only_the_general_way_reads():
    class Interface:
        pass

    assert write_dispatch((np.ndarray, Interface), [False, False], unreachable, static_key) is None
    assert dispatch_of(np.ndarray, Interface, static=[False, True]).library == "numpy"


def test_the_tables_are_bounded(monkeypatch):
    monkeypatch.setattr(dispatch, "TABLE_SIZE", 10)
    _, program = short(lambda x: x + 1, "f64[n]")
    made = dispatch_of(np.ndarray)
    for n in range(100):
        made.remember((np.empty(n),), ready(program))
        assert len(made.exact) <= 10
    for n in range(2, 200):
        made.call(np.empty(n))
        assert len(made.exact) <= 10
    fits_none = types.SimpleNamespace(bind=lambda *given: None)
    for n in range(1, 30):
        assert made.remember((np.empty((1,) * n),), ready(fits_none)) is None
        assert len(made.classes) <= 10


def test_threads_use_slots_of_their_own():
    _, program = short(lambda x, s: x + s, "f64[n]", "weak float")
    failures: list[float] = []

    def work(value: float) -> None:
        x = np.zeros(100)
        for _ in range(500):
            if run(program, x, value)[50] != value:
                failures.append(value)

    threads = [threading.Thread(target=work, args=(float(n),)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_arrays_that_are_no_results_are_kept_for_graphs():
    plan = pytocu.jit(lambda x: (x + 1, x * 2)).lower("f32[n]").compile("cuda:sm_90").plan
    assert "executor.keep" not in Program(plan, ANY_LIBRARY, ("executor", "infos")).source
    _, first, second = plan.tree
    one_result = plan._replace(tree=second)
    text = Program(one_result, ANY_LIBRARY, ("executor", "infos")).source
    assert text.index(f"executor.keep((v{first}, ))") > text.index("executor.launch")


def test_extremes_of_many_lengths_have_a_text_of_their_size():
    def settled(u, n):
        for _ in range(n):
            v = u.copy()
            for _ in range(3):
                v[1:-1] = 0.5 * (v[2:] + v[:-2])
            u = np.roll(np.roll(v, 1), 1)
        return u

    plan = pytocu.jit(settled).lower("f32[n]", "weak int").compile("cuda:sm_90").plan
    source = Program(plan, ANY_LIBRARY, ("executor", "infos")).source
    assert max(map(len, source.splitlines())) < 20 * max(len(str(step)) for step in plan.steps)


def test_what_an_extreme_is_of_is_computed_once():
    """Lengths of slices of slices: extremes of extremes do not double the text that computes them."""

    def inner(x):
        for _ in range(6):
            x = x[1:][:9]
        return x * 2

    def text_of(function, *arguments):
        plan = pytocu.jit(function).lower(*arguments).compile("cpu").plan
        text = program_text.Text(plan, ANY_LIBRARY)
        text.lengths = {"n": "n0"}
        (dim,) = {spec.work for spec in plan.kernels}
        return text.dim(dim), dim

    text, dim = text_of(inner, "f64[n]")
    assert len(text) < 500 and text.count("n0") == 1
    for n in range(20):
        assert eval(text, {"n0": n}) == evaluate(dim, {"n": n}) == inner(np.ones(n)).size
        assert pytocu.jit(inner)(np.ones(n)).shape == inner(np.ones(n)).shape


@pytest.mark.parametrize(("arguments", "others"), [((3,), (5,)), ((), ()), ((2.0, True), (0.5, False))])
def test_calls_without_arrays_go_the_short_way(arguments, others, monkeypatch):
    def numbers(n):
        return np.arange(n)

    def none():
        return np.zeros(3)

    def chosen(x, flag):
        return np.full(2, x) if flag else np.zeros(1)

    function = {1: numbers, 0: none, 2: chosen}[len(arguments)]
    jitted = pytocu.jit(function)
    jitted(*arguments)
    jitted(*others)
    general: list[object] = []
    monkeypatch.setattr(type(jitted), "_call", lambda self, values: general.append(values))
    for given in (arguments, others):
        np.testing.assert_array_equal(jitted(*given), function(*given), strict=True)
    assert not general


def test_a_first_call_writes_what_it_runs():
    function = pytocu.jit(lambda x: x * 2 + 1)
    x = np.arange(4.0)
    assert function(x).tolist() == [1, 3, 5, 7]
    executable = function._made[0][1].executable
    assert "run" not in vars(executable._program), "the program for arrays of any library is for other calls"
    (program,) = executable._short.values()
    assert "bind" in vars(program) and "suits" not in vars(program)
    # A new size asks whether the facts hold, in the same program.
    assert function(np.arange(2.0)).tolist() == [1, 3]
    assert "suits" in vars(program) and "run" not in vars(executable._program)


def test_what_the_short_way_refuses_is_said_by_the_general_one():
    def add_one(x):
        x += 1

    function = pytocu.jit(add_one)
    x = np.zeros(4)
    for writeable in (False, False, True, False):
        x.flags.writeable = writeable
        if writeable:
            function(x)
            continue
        with pytest.raises(ValueError, match="output array is read-only"):
            function(x)
    assert x.tolist() == [1] * 4


def test_what_kernels_have_to_find_comes_before_what_is_raised_behind_them():
    plan = pytocu.jit(stopped_by_an_element_or_a_number).lower("f64[k]", "weak int").compile("cuda:sm_90").plan
    source = Program(plan, ANY_LIBRARY, ("executor", "infos")).source
    assert re.search(r"if n\d+ != 0: executor\.waits or executor\.settle\(\); fail\d+\(", source)
    # A plan whose kernels have nothing to find waits for nothing.
    plan = pytocu.jit(lambda x, y: x + y).lower("f64[k]", "f64[m]").compile("cuda:sm_90").plan
    assert "settle" not in Program(plan, ANY_LIBRARY, ("executor", "infos")).source
