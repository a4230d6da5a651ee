"""``pytocu bisect``: nothing is found in a right compiler, and a fault planted into any step is found at that step."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import pytocu
from pytocu.cli.main import main
from pytocu.errors import BackendError, InternalError, PytocuError
from pytocu.explain.inputs import load_inputs, save_inputs
from pytocu.ir import interp
from pytocu.passes import schedule
from pytocu.testing.bisect import Outcome, bisect, imprecision, variables
from pytocu.testing.planted import FAULTS, Fault, planted
from pytocu.testing.reproducer import literal, strided

ROOT = pytocu.__path__[0].rpartition("/")[0]

SOURCE = """\
import numpy as np

import pytocu


def steps(x, y):
    a = x + y
    b = a * 2
    return np.where(b > 3, -b, x + 0.0)


def sliced(x):
    a = x * 2
    b = a[::2]
    return b + 1


def crossed(x, y):
    a = x - y
    b = y - x
    return a * 2 + b


def zeros(x):
    return np.where(x > 3, x, x + 0.0)


def filled(u):
    new = u.copy()
    new[1:-1] = u[2:] * 0.5
    return new


def both(x, y):
    return x + 1, y + 1


def looped(x, count):
    for _ in range(count):
        x = x - x.sum() * 0.5
    return x


@pytocu.vectorize
def kinked(x):
    return x if x > 0 else x * 0.5


def each(x, count):
    total = 1.0
    for _ in range(count):
        total = total * 2
        x = x * total
    return x


def sums(x, count):
    found, k = np.zeros(9, x.dtype), 0
    while k < count and found[0] < 1e9:
        found[k % 9] += x[: k + 1].sum()
        k += 1
    return found


def stacked(x, count):
    found = np.zeros(9, x.dtype)
    for i in range(count):
        stack = [i % 5]
        while stack:
            k = stack.pop()
            found[k] += 1
            if k > 0:
                stack.append(k - 1)
    return found


def settled(x, count):
    y = x * 0
    for k in range(count):
        if k > 1:
            y = y - 1
        else:
            y = 0.5 * (y + x)
    return y


def kept(u, count):
    first = u * 2
    now = first
    for _ in range(count):
        now = now - now.sum()
    return first, now


def normalised(x):
    return x / x.max(1, keepdims=True)


def marked(x, m):
    x = x.copy()
    x[m] *= 2
    x[x > 3] = 0
    return x, x[m].sum()


def unmarked(x, m):
    return x[~m]


def changed(u, v):
    u[1:] = v[:-1] * 2
    v += 1
    return u, v - u, u.max()


def until(x, most):
    while x.max() > most:
        x = np.where(x > most, x / 2, x)
    return x


def two(x, y):
    return x + y, x - y


def counted(x, k):
    found = np.zeros(4)
    np.add.at(found, k % 4, x)
    return found


def placed(x, k):
    y = np.zeros_like(x)
    y[k[0]] = x[0] + 1
    return y


def positive(x):
    return np.where(x > 0, np.float64(0), x)


def rows(x):
    return x.sum(axis=1) + 1


def mean(x):
    return x.mean()


def total(x):
    return x.sum() * 2


def waves(u):
    a = np.exp(u) * 2
    return a[2:] - a[:-2] + a[1:-1]


def turned(points, rotation):
    return points @ rotation


def less(x, y):
    return x < y


def constants(x):
    return x * 2 + np.float32(0.1)


def relax(u):
    u[1:-1] = u[2:] + u[:-2]
    return u


def rolled(x):
    return np.roll(x, 1, 0) - x


def scattered(x, y):
    return (y / np.sqrt(x)[:, :, None]).sum(axis=1)


def narrowed(z):
    return z.astype(np.complex64)


def divided(x, y):
    return x // y


def scaled(x, y, z):
    return x * y + z


def unsigned(x):
    return x.astype(np.float32)


def least(x, y):
    return np.minimum(x - y, y)


def joined(x, y):
    a = x > y
    b = y > 2
    return a & b, a | b


def pulled(x, y):
    return (y / ((x[:, None] - y) ** 2 + np.float32(0.5))).sum(1)


def newton(x):
    y = x.copy()
    while True:
        y = 0.5 * (y + x / y)
        if np.abs(y * y - x).max() < np.float32(1e-6):
            return y


def halved(x):
    x = np.minimum(np.abs(x), 8)
    while x.sum() > 1:
        x[::2] = x[::2] / 2
        x[1::2] = x[1::2] / 2
    return x


@pytocu.vectorize
def lowered(n):
    while n >= np.uint64(2**63):
        n = n - np.uint64(1)
    return n


def sized(n, m):
    k = min(n, m)
    return np.ones((k, n)) * np.arange(n)


def until_large(x, n):
    while n < 10:
        n = n * 2
    return np.zeros(n) + x[0]



"""

BY_NAME = {f.name: f for f in FAULTS}


def fault(name, place, old, new):
    return Fault(name, f"pytocu.passes.{place}", old, new)


# (fault, function, types, the step, the operation of the instruction)
PLANTED = [
    (BY_NAME["a slice stops one early"], "sliced", "f32[n]", ("front end", "lower"), "slice|add"),
    (
        fault("negative constants", "fold:_fold", "interp_rows.cast(typed[0]", "-interp_rows.cast(typed[0]"),
        *("constants", "f64[n]", ("pass", "fold-2"), "add|multiply"),
    ),
    (BY_NAME["a comparison of signs the wrong way round"], "less", "u64[n], i64[n]", ("pass", "infer-types"), "less"),
    (
        fault("axes of length 1 stay", "infer_shapes:_repeated", "repeated_axes(shape, target)", "()"),
        *("steps", "f32[n, m], f32[n, 1]", ("pass", "infer-shapes"), "add"),
    ),
    (BY_NAME["x + 0.0 is x, also for -0.0"], "zeros", "f32[200]", ("pass", "simplify"), "add"),
    (
        fault("pieces change places", "insert:_inserted", '"concatenate", some,', '"concatenate", some[::-1],'),
        *("filled", "f32[n]", ("pass", "insert"), "update"),
    ),
    (
        fault("launches are alike but for arguments", "alike:run", '"launch", args,', '"launch", (*args[1::-1], *args[2:]),'),
        *("both", "f32[n], f32[m]", ("pass", "alike"), ""),
    ),
    (BY_NAME["equal with operands swapped"], "crossed", "f32[n], f32[n]", ("pass", "cse"), "subtract|multiply|add"),
    (
        fault("second operands are dead", "cleanup:dce", "used.update(inst.args)", "used.update(inst.args[:1])"),
        *("crossed", "f32[n], f32[n]", ("pass", "dce"), ""),
    ),
    (
        fault("lengths are divided", "narrow:run", '"divide", (dividend, number)', '"divide", (number, dividend)'),
        *("mean", "f32[n]", ("pass", "narrow"), "cast"),
    ),
    (
        fault("factors are added", "products:run", '"multiply", (left, right)', '"add", (left, right)'),
        *("turned", "f32[n, 30], f32[30, 3]", ("pass", "products"), ""),
    ),
    (
        fault("rolls begin one behind", "rolls:_view", '.attr("start")[axis]}', '.attr("start")[axis] - 1}'),
        *("rolled", "f32[n, m]", ("pass", "rolls"), ""),
    ),
    (
        fault("the first stands for all", "components:_apart", '"at": number', '"at": 0'),
        *("scattered", "f32[n, m], f32[n, m, 3]", ("pass", "components"), "reduce"),
    ),
    (
        fault("the first is left out", "few:_combined", "in range(length if", "in range(1, length if"),
        *("rows", "f32[n, 3]", ("pass", "few"), "reduce"),
    ),
    (
        fault("pieces are not added up", "split:_sum", 'attrs | {"op": COMPENSATED}', 'attrs | {"op": "argmax"}'),
        *("total", "f32[100000]", ("pass", "split"), "reduce"),
    ),
    (
        fault("the first step is left out", "stages:run", "writer.last(segment)", "writer.last(segment[1:])"),
        *("looped", "f32[n], weak int", ("pass", "stages"), ""),
    ),
    (
        fault("parameters change places", "loop_scalars:run", "Block(function.params,", "Block(function.params[::-1],"),
        *("each", "f32[n], weak int", ("pass", "loop-scalars"), ""),
    ),
    (
        fault("sides change places", "maps:_chosen", '"where", (test, yes, no)', '"where", (test, no, yes)'),
        *("kinked", "f32[n]", ("pass", "maps"), "map"),
    ),
    (
        fault("an operand is kept", "store_or_repeat:run", '"keep", (new,)', '"keep", (args[0],)'),
        *("waves", "f32[40]", ("pass", "store"), ""),
    ),
    (
        fault("results change places", "fuse:_kernel", "[r.value] for r in roots]", "[r.value] for r in roots[::-1]]"),
        *("two", "f32[n], f32[n]", ("pass", "fuse"), ""),
    ),
    (
        fault("memory changes places", "bufferize:_Writer.kernel", "*outputs), attrs", "*outputs[::-1]), attrs"),
        *("two", "f32[n], f32[n]", ("pass", "bufferize"), ""),
    ),
    (
        fault("operands change places", "schedule:run", '"launch", args, attrs', '"launch", (*args[1::-1], *args[2:]), attrs'),
        *("crossed", "f32[n], f32[n]", ("pass", "schedule"), "subtract"),
    ),
    (BY_NAME["an offset is not multiplied"], "relax", "f32[n, m]", ("pass", "lower-loops"), ""),
    (BY_NAME["a cast between floats is skipped"], "narrowed", "c128[n]", ("pass", "lower-dtypes"), ""),
    (
        fault("parts change places", "lower_dtypes:cast", "word) for word in words)", "word) for word in words[::-1])"),
        *("narrowed", "c128[n]", ("pass", "lower-dtypes"), "cast"),
    ),
    (BY_NAME["division rounds up for operands of one sign"], "divided", "i32[n], i32[n]", ("pass", "expand"), "floor_divide"),
    (
        fault("sums are differences", "fastmath:_contract", 'right if inst.op.name == "add"', 'right if inst.op.name == ""'),
        *("scaled", "f32[n], f32[n], f32[n]", ("pass", "fastmath"), "add"),
    ),
    (
        fault("the first value is left out", "combining:_loop", "for d in (0, count, 1)", "for d in (1, count, 1)"),
        *("counted", "f64[n], i64[n]", ("pass", "combining"), ""),
    ),
    (
        fault("another position is changed", "picks:_with_part", '"equal", (numbers, place)', '"less", (numbers, place)'),
        *("placed", "f32[n], i64[n]", ("pass", "picks"), ""),
    ),
    (
        fault("sides change places", "zeros:_rule", "(zero, source) if number == 1", "(zero, source) if number == 2"),
        *("positive", "f32[n]", ("pass", "zeros"), "where"),
    ),
    (BY_NAME["unsigned integers become floats as signed ones"], "unsigned", "u64[n]", ("backend", "llvm"), "cast"),
]


# Of programs with loops, branches, masks, changed arguments and several results.
PLANTED += [
    (
        fault("a step too many", "region_loops:_steps", 'test.emit("less" if', 'test.emit("less_equal" if'),
        *("settled", "f32[n], weak int", ("pass", "lower-loops"), ""),
    ),
    (
        fault("each step is the first", "rooms:run", "builder = Builder()", 'builder, mapping["i_"] = Builder(), 0'),
        *("stacked", "f64[n], weak int", ("pass", "rooms"), ""),
    ),
    (
        fault("the last elements are left out", "element_loops:ElementLoops.fold", "whole * LANES, [total", "size, [total"),
        *("sums", "f64[n], weak int", ("pass", "one-thread"), ""),
    ),
    (
        fault("memory is taken that is read later", "stages:_Writer._starts", "and value not in used and", "and"),
        *("kept", "f32[n], weak int", ("pass", "stages"), ""),
    ),
    (
        fault("results change places", "fuse:_kernel", "[r.value] for r in roots]", "[r.value] for r in roots[::-1]]"),
        *("changed", "f32[n], f32[n]", ("pass", "fuse"), ""),
    ),
    (
        fault("memory changes places", "bufferize:_Writer.kernel", "*outputs), attrs", "*outputs[::-1]), attrs"),
        *("changed", "f64[n], f64[n]", ("pass", "bufferize"), ""),
    ),
    (
        fault("hidden operands change places", "negations:_hidden", "inst.op, args, dict", "inst.op, args[::-1], dict"),
        *("least", "i32[n], i32[n]", ("pass", "negations"), "subtract|minimum"),
    ),
    (
        fault("hidden operands are inverted", "both_or_either:_hidden", '"not_equal", (builder', '"equal", (builder'),
        *("joined", "i32[n], i32[n]", ("pass", "both-or-either"), ""),
    ),
    (
        fault("quotients are too large", "quotients:_corrected", "(-rest).fma", "near.fma"),
        *("pulled", "f32[n], f32[m]", ("pass", "one-test"), ""),
    ),
    (
        fault("products of twice the number", "shared_divisors:_quotient", "(a.cast(F64) *", "((a + a).cast(F64) *"),
        *("normalised", "f32[n, m]", ("pass", "shared-divisors"), ""),
    ),
    (
        fault("inverted masks are masks", "compactions:_in_memory", 'in ("copy", ', 'in ("copy", "invert", '),
        *("unmarked", "f32[n], bool[n]", ("pass", "compactions"), ""),
    ),
    (
        Fault("masked elements stay", "pytocu.frontend.masked_work:assign", "chosen, new, moved", "chosen, moved, new"),
        *("marked", "f32[n], bool[n]", ("front end", "lower"), ""),
    ),
]


@pytest.fixture
def folder(in_folder):
    """A folder with a program, and the process in it."""
    return in_folder("prog.py", SOURCE)


@pytest.fixture
def command(folder, capsys):
    def run(*words):
        code = main(["bisect", *words])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return code, out, re.sub(r"^inputs \d+ of \d+\n", "", err, flags=re.M)

    return run


@pytest.mark.parametrize(("fault", "function", "types", "step", "operation"), PLANTED, ids=[p[0].name for p in PLANTED])
def test_a_planted_fault_is_found_at_its_step(folder, capsys, monkeypatch, fault, function, types, step, operation):
    target = "cuda:sm_90" if step[1] in ("negations", "one-test", "shared-divisors", "both-or-either") else "cpu"
    # That a thread has several rows takes more of them otherwise than arguments are made with.
    monkeypatch.setattr(schedule, "MANY_THREADS", 1)
    words = ["bisect", f"prog.py:{function}", "--args", types, "--target", target]
    if step == ("pass", "fastmath"):
        words += ["--fastmath", "contract"]
    with planted(fault):
        code = main(words)
    said = capsys.readouterr().err
    assert code == 1
    kind, name = step
    expected = "the front end makes" if kind == "front end" else f"the {kind} {name} ({target}) makes"
    assert f"pytocu: {expected} {function} wrong" in said
    if operation:
        assert re.search(rf"first wrong at %\w+ = ({operation}) ", said), said
        assert re.search(r"--> .*prog.py:\d+:\d+", said)
    (test,) = folder.glob("test_*.py")
    assert f"{test.name} reproduces it" in said
    # It passes without the fault, and fails with it.
    scope = {}
    exec(compile(test.read_text(), str(test), "exec"), scope)
    (reproduce,) = (value for key, value in scope.items() if key.startswith("test_"))
    reproduce()
    with planted(fault), pytest.raises((AssertionError, PytocuError)):
        reproduce()


def test_planted_faults_are_in_every_pass():
    from pytocu.passes.pipeline import PIPELINE

    assert {re.sub(r"-\d$", "", name) for _, _, _, (kind, name), _ in PLANTED if kind == "pass"} == {p.name for p in PIPELINE}


# (fault, function, the argument, the step, the operation)
ENDLESS = [
    (BY_NAME["a slice stops one early"], "halved", "x=[1., 2, 3]", "the front end makes halved", "while_loop"),
    (
        fault("negative constants", "fold:_fold", "interp_rows.cast(typed[0]", "-interp_rows.cast(typed[0]"),
        *("newton", "x=[1., 2, 3]", "the pass fold-2 (cpu) makes newton", "while_loop"),
    ),
    (
        BY_NAME["unsigned integers compare as signed ones"],
        *("lowered", "n=np.uint64([2**63 + 5, 7])", "the backend llvm (cpu) makes lowered", "map"),
    ),
]


@pytest.mark.parametrize(("fault", "function", "given", "step", "operation"), ENDLESS, ids=[e[1] for e in ENDLESS])
def test_a_step_that_does_not_end_is_found(folder, fault, function, given, step, operation):
    exec(f"np.savez('some.npz', {given})", {"np": np})
    (folder / "run.py").write_text(
        "import sys\n\nfrom pytocu.cli.main import main\nfrom pytocu.testing.planted import Fault, planted\n\n"
        f"with planted(Fault{tuple(fault)!r}):\n    sys.exit(main(sys.argv[1:]))\n"
    )
    # In a process of its own, which ends though the native loop does not.
    words = ["bisect", f"prog.py:{function}", "--inputs", "some.npz", "--target", "cpu", "--limit", "1"]
    done = subprocess.run([sys.executable, "run.py", *words], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1, done.stderr
    found = r"(no answer in [0-9.]+ s|a loop did not end after 1\d\d\d steps), where an answer is expected"
    assert re.search(rf"pytocu: {re.escape(step)} endless\n  {found}\n  first wrong at %", done.stderr), done.stderr
    assert re.search(rf"first wrong at (%\w+, )*%\w+ = {operation} ", done.stderr), done.stderr
    (test,) = folder.glob("test_*.py")
    assert "does not end." in test.read_text().splitlines()[0]
    # It passes without the fault.
    scope = {}
    exec(compile(test.read_text(), str(test), "exec"), scope)
    next(value for key, value in scope.items() if key.startswith("test_"))()


def test_a_step_that_takes_long_is_not_called_endless(monkeypatch):
    """The interpreter takes its time for many elements, and no more steps."""
    taken = []

    def slowly(seconds, call):
        taken.append(seconds)
        return call()

    monkeypatch.setattr("pytocu.testing.bisect.within", slowly)

    def f(x):
        while x.sum() > 1:
            x = x / 2
        return x

    assert bisect(pytocu.jit(f), {"x": np.ones(300)}, ("cpu",), limit=1e-3) is None
    # NumPy, the front end's and the backend's; passes are given steps.
    assert len(taken) > 6 and taken.count(None) == len(taken) - 2


def test_a_function_that_ends_the_program(command, folder):
    (folder / "ends.py").write_text("import sys\n\n\ndef f(x):\n    sys.exit(3)\n")
    code, _, err = command("ends.py:f", "--args", "f32[n]", "--target", "cpu")
    assert code == 1
    assert err == "pytocu: f is not compiled: the builtin_function_or_method exit is not Python code that can be read\n"


def test_arguments_for_which_python_does_not_end_are_left_out(command, folder):
    np.savez("endless.npz", x=np.array([np.nan]))
    code, out, err = command("prog.py:newton", "--inputs", "endless.npz", "--limit", "0.1")
    assert (code, out) == (1, "")
    said = "newton itself, run by Python, gives no answer in 0.1 s for all that was tried: --limit waits longer"
    assert err == f"pytocu: {said}\n"
    code, out, err = command("prog.py:newton", "--args", "f64[3]", "--target", "cpu", "--limit", "0.2")
    assert (code, err) == (0, "")
    assert "note: newton itself, run by Python, gives no answer in 0.2 s for 5 of 7 lists of arguments, which were left" in out
    assert out.endswith("newton is NumPy's after every pass and on every backend that ran, for 2 lists of arguments\n")


@pytest.mark.parametrize(("function", "types"), [("sized", "weak int, weak int"), ("until_large", "f64[q], weak int")])
def test_lengths_that_the_call_computes_are_none_of_a_backend(command, folder, function, types):
    code, out, err = command(f"prog.py:{function}", "--args", types, "--target", "cpu", "--steps")
    assert (code, err) == (0, "")
    assert "the backend llvm, cpu: same" in out


def test_lengths_are_those_of_several_vectors_too(command, folder):
    (folder / "long.py").write_text("def ends(u):\n    return u[:-2] + u[2:] * 3\n")
    words = ("long.py:ends", "--args", "f32[n]", "--target", "cuda:sm_90")
    assert command(*words)[0] == 0
    wrong = fault("lanes read their neighbours", "vector_loops:_lanes", "low - span.first, len", "low - span.first + 1, len")
    with planted(wrong):
        code, _, err = command(*words)
    assert code == 1 and "the pass lower-loops (cuda:sm_90) makes ends wrong" in err


@pytest.mark.parametrize("types", ["f32[n], f32[n]", "f64[n, 3], weak float", "f32[n; S], f32[n]"])
def test_comparisons_meet_equal_elements(command, folder, monkeypatch, types):
    """A wrong comparison shows on equal elements only, which two arrays of any numbers hardly have."""
    from pytocu.backend import llvm_rows

    (folder / "equal.py").write_text("import numpy as np\n\n\ndef lower(x, y):\n    return np.where(x < y, x * 3 - y, y)\n")
    words = ("equal.py:lower", "--args", types, "--target", "cpu")
    assert command(*words)[0] == 0
    monkeypatch.setitem(llvm_rows._FLOAT_PREDICATE, "lt", "ole")
    code, _, err = command(*words)
    assert code == 1 and "the backend llvm (cpu) makes lower wrong" in err and "first wrong at %0 = less %x, %y" in err


@pytest.mark.parametrize(
    ("function", "types"),
    [
        *[("steps", "f32[n], i32[n]"), ("relax", "f32[n]"), ("mean", "f16[7]"), ("two", "f64[5; S], f32[5]")],
        *[("settled", "f32[n], weak int"), ("kept", "f32[n], weak int"), ("marked", "f32[n], bool[n]")],
        *[("changed", "f32[n], f32[n]"), ("until", "f64[7], weak float")],
    ],
)
def test_nothing_is_found_where_nothing_is_wrong(command, folder, function, types):
    code, out, err = command(f"prog.py:{function}", "--args", types)
    assert (code, err) == (0, "")
    assert f"{function} is NumPy's after every pass and on every backend that ran" in out
    assert list(folder.glob("test_*")) == []


@pytest.mark.parametrize("types", ["f32[n, m], f32[m, k]", "f64[n, m], f64[m, k]"])
def test_orders_of_sums_are_not_called_wrong(command, folder, types):
    """Neither where they overflow in one order only, nor where the first pass of a second target comes after another order."""
    (folder / "product.py").write_text("def product(x, w):\n    return x @ w\n")
    code, out, err = command("product.py:product", "--args", types)
    assert (code, err) == (0, "") and "product is NumPy's after every pass" in out
    wrong = fault("factors are added", "products:run", '"multiply", (left, right)', '"add", (left, right)')
    with planted(wrong):
        code, _, err = command("product.py:product", "--args", types)
    assert code == 1 and "the pass products (cpu) makes product wrong" in err


def test_numbers_whose_sums_overflow_are_made_smaller():
    """A fault that shows where numbers are none any more is found on what remains."""
    x = np.full((5, 30), -3e38, np.float32)
    x[0], x[1, 0] = 3e38, np.inf
    values = {"x": x, "w": np.float32(np.arange(90).reshape(30, 3) % 2 * 2 - 1)}
    f = pytocu.jit(lambda x, w: x @ w)
    assert bisect(f, values, ("cpu",)) is None
    with planted(fault("factors are added", "products:run", '"multiply", (left, right)', '"add", (left, right)')):
        wrong = bisect(f, values, ("cpu",))
    assert wrong is not None and wrong.name == "products"


def test_methods_and_parameters_without_keywords(command, folder):
    text = "class Filter:\n    gain = 2.0\n\n    def apply(self, x):\n        return x * self.gain\n\n\n"
    (folder / "odd.py").write_text(text + "def f(x, /, k, *, m):\n    return x * k + m\n")
    for words in (("odd.py:Filter.apply", "--args", "f32[n]"), ("odd.py:f", "--args", "f32[n], f64, m=f32[n]")):
        code, out, err = command(*words, "--target", "cpu")
        assert (code, err) == (0, "") and "is NumPy's after every pass" in out


def test_every_step_is_shown(command):
    code, out, _ = command("prog.py:mean", "--args", "f32[7]", "--steps", "--target", "cpu")
    assert code == 0
    lines = out.splitlines()
    assert lines[0] == "the front end: same"
    assert "the pass expand, cpu: same" in lines
    assert "the backend llvm, cpu: same" in lines


def test_the_test_that_is_written_runs_in_pytest(command, folder):
    fault = BY_NAME["x + 0.0 is x, also for -0.0"]
    with planted(fault):
        code, _, said = command("prog.py:zeros", "--args", "f32[200]", "--output", "found")
    assert code == 1
    assert "is 0.0, not -0.0, 0 ulp away" in said or "is -0.0, not 0.0, 0 ulp away" in said
    (test,) = (folder / "found").glob("test_*.py")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(test)],
        capture_output=True,
        text=True,
        cwd=folder,
        env={"PYTHONPATH": ROOT, "PATH": "/usr/bin:/bin", "PYTOCU_CACHE_DIR": str(folder / "cache")},
    )
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


def test_arguments_from_a_file(command, folder):
    np.savez("inputs.npz", x=np.float32([1, 2, 3]), y=np.float32([-0.0, 0, 1]))
    assert command("prog.py:steps", "--inputs", "inputs.npz")[0] == 0
    np.savez("zeros.npz", x=np.float32([-0.0]), y=np.float32([-0.0]))
    with planted(BY_NAME["x + 0.0 is x, also for -0.0"]):
        assert command("prog.py:steps", "--inputs", "inputs.npz")[0] == 0
        code, _, said = command("prog.py:crossed", "--inputs", "zeros.npz")
    assert code == 0, said


def test_large_arguments_are_written_as_bytes(command, folder):
    np.savez("inputs.npz", x=np.linspace(0, 1, 100).astype(np.float32), y=np.full(100, -1e-3, np.float32))
    with planted(BY_NAME["equal with operands swapped"]):
        code, _, said = command("prog.py:crossed", "--inputs", "inputs.npz")
    assert code == 1, said
    (test,) = folder.glob("test_*.py")
    assert "np.frombuffer(bytes.fromhex(" in test.read_text()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("prog.py:step",), "prog.py has no 'step': did you mean steps?"),
        (("prog.py:steps",), "steps(x, y) needs a type for x, y"),
        (("prog.py:steps", "--inputs", "none.npz"), "there is no file 'none.npz'"),
        (("prog.py:steps", "--inputs", "prog.py"), "'prog.py' holds no arguments (it is no file of arrays): np.savez('inputs"),
        (("prog.py:steps", "--inputs", "one.npy"), "'one.npy' holds no arguments (it is one array without a name)"),
        (("prog.py:steps", "--inputs", "cut.npz"), "'cut.npz' holds no arguments (File is not a zip file)"),
        (("prog.py:steps", "--inputs", "torn.npz"), "'torn.npz' holds no arguments (Bad CRC-32"),
        (("prog.py:steps", "--inputs", "words.npz"), "'words.npz' holds no arguments (its array x is of dtype <U1)"),
        (("prog.py:steps", "--inputs", "zip.npz"), "'zip.npz' holds no arguments (its part x is no array)"),
        (("prog.py:mean", "--args", "f32[n]", "--output", "prog.py/x"), "--output prog.py/x: prog.py is a file"),
        (("prog.py:steps", "--inputs", "some.npz"), "some.npz holds 'xs', and steps has no such parameter: did you mean x?"),
        (("prog.py:steps", "--inputs", "less.npz"), "less.npz holds nothing for y, which steps needs"),
        (("prog.py:steps", "--inputs", "less.npz", "--args", "f32[n]"), "--args and --inputs are two ways"),
        (("prog.py:mean", "--args", "f32[n]", "--target", "cuda:9"), "'cuda:9' is not a target"),
        (("prog.py:mean", "--args", "f32[n]", "--limit", "0"), "--limit 0: write seconds, as 60"),
        (("prog.py:mean", "--args", "f32[n]", "--limit", "x"), "--limit x: write seconds, as 60"),
        (("prog.py:mean", "--args", "f32[n]", "--limit", "nan"), "--limit nan: write seconds, as 60"),
        (("prog.py:mean", "--args", "f32[99999999]"), "--args 'f32[99999999]': f32[99999999] has 99999999 elements"),
        (("prog.py:mean", "--inputs", ""), "--inputs is empty"),
    ],
)
def test_bad_input(command, words, sentence):
    np.savez("some.npz", xs=np.ones(3))
    np.savez("less.npz", x=np.ones(3))
    np.save("one.npy", np.ones(3))
    np.savez("words.npz", x=np.array(["a"]))
    whole = Path("less.npz").read_bytes()
    Path("cut.npz").write_bytes(whole[:200])
    Path("torn.npz").write_bytes(whole[:170] + b"x" + whole[171:])
    with zipfile.ZipFile("zip.npz", "w") as made:
        made.writestr("x.npy", b"no array")
    code, out, err = command(*words)
    assert (code, out) == (2, "")
    assert err.startswith(f"pytocu: {sentence}")
    assert err.count("\n") == 1


def test_defaults_are_arguments(command, folder):
    (folder / "defaults.py").write_text("def f(x, k=2.0, *, m=3):\n    return x * k + m\n")
    assert command("defaults.py:f", "--args", "f32[n]", "--target", "cpu")[0] == 0
    assert command("defaults.py:f", "--args", "f32[n], m=f32", "--target", "cpu")[0] == 0


def test_a_backend_whose_compiler_is_missing_is_not_wrong(folder):
    without = "import sys; sys.modules['llvmlite'] = None; from pytocu.cli.main import main; sys.exit(main(sys.argv[1:]))"
    words = ["bisect", "prog.py:steps", "--args", "f32[3], f32[3]", "--target", "cpu"]
    done = subprocess.run([sys.executable, "-c", without, *words], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert "note: the backend llvm, cpu was not run: llvmlite builds code for the CPU, and cannot be loaded" in done.stdout
    assert "steps is NumPy's after every pass and on every backend that ran" in done.stdout


def test_an_error_of_numpy_is_no_difference():
    said = []
    assert bisect(pytocu.jit(lambda x, y: x + y), {"x": np.ones(3), "y": np.ones(4)}, say=said.append) is None
    numpys, *others = said
    assert numpys[:2] == ("NumPy", "raises") and "could not be broadcast" in numpys.reason
    assert others and all(o.verdict in ("same", "not run") for o in others)


def test_what_numpy_refuses_too_is_said(command, folder):
    code, out, _ = command("prog.py:steps", "--args", "f32[3], i32[4]", "--target", "cpu")
    assert code == 0
    assert "steps raises what NumPy raises, ValueError: operands could not be broadcast" in out
    assert out.endswith("for 7 lists of arguments: there is no result to compare\n")
    out = command("prog.py:steps", "--args", "f32[n], i32[m]", "--target", "cpu")[1]
    assert "for 28 lists of arguments; of these, 13 raise what NumPy raises: ValueError" in out


def test_a_function_of_scalars_without_elements_has_no_answer_of_numpy(command, folder):
    (folder / "vec.py").write_text("import pytocu\n\n@pytocu.vectorize\ndef f(x):\n    return x + 1 if x > 0 else x\n")
    code, out, err = command("vec.py:f", "--args", "f32[n]", "--target", "cpu")
    assert (code, err) == (0, "")
    assert "for 13 lists of arguments" in out


def test_a_function_that_is_not_compiled_is_said(folder, capsys):
    (folder / "no.py").write_text("def f(x):\n    with x:\n        return x\n")
    assert main(["bisect", "no.py:f", "--args", "f32[n]"]) == 1
    assert "f is not compiled: a with statement is not supported" in capsys.readouterr().err


def test_what_is_not_exact_has_room():
    lower = lambda f, *types: pytocu.jit(f).lower(*types).function  # noqa: E731
    assert imprecision(lower(lambda x: np.sin(x), "f32[n]"))
    assert imprecision(lower(lambda x: x.sum(), "f32[n]"))
    assert not imprecision(lower(lambda x: x.sum(), "i32[n]"))
    assert not imprecision(lower(lambda x: x * 2 + 1, "f32[n]"))
    assert imprecision(lower(lambda x: np.sin(x), "f64[n]")) < imprecision(lower(lambda x: np.sin(x) * np.float64(2), "f32[n]"))


WIDE = """\
import numpy as np


def attention(q, k):
    s = np.einsum("bqd,bkd->bqk", q, k) / np.sqrt(q.shape[-1])
    return np.exp(s - s.max(axis=-1, keepdims=True))


def solved(m, v):
    # What LAPACK makes of NaN and of the largest numbers depends on the CPU.
    return np.linalg.lstsq(np.clip(np.nan_to_num(m), -2, 2), np.clip(np.nan_to_num(v), -2, 2), rcond=None)[0]
"""


@pytest.mark.parametrize(
    ("function", "types", "lines"),
    [
        # float64 that is made of sums of float32.
        ("attention", "f32[2, 30, 20], f32[2, 30, 20]", ()),
        # What a call refuses, which the types do not tell, is no wrong answer.
        ("solved", "f64[n, 2], f64[n]", ("note: a call was refused: np.linalg.lstsq of an empty matrix is not compiled",)),
    ],
)
def test_what_is_right_is_not_called_wrong(folder, capsys, function, types, lines):
    (folder / "wide.py").write_text(WIDE)
    code = main(["bisect", f"wide.py:{function}", "--args", types, "--target", "cpu"])
    out = capsys.readouterr().out
    assert code == 0, out
    assert f"{function} is NumPy's after every pass and on every backend that ran, for" in out
    assert all(line in out for line in lines)


def test_variables_of_a_run():
    def f(x):
        a = x + 1
        for _ in range(2):
            a = a * 2
        b = a
        return b

    line = f.__code__.co_firstlineno
    seen = variables(f, {"x": 1})
    assert seen[line + 1, "a"] == 2
    assert seen[line + 4, "b"] == 8
    assert (line + 3, "a") not in seen
    assert not sys.gettrace() or "coverage" in sys.modules


@pytest.mark.parametrize(
    "value",
    [
        np.float32([1.5, np.nan, -np.inf, -0.0]),
        np.array(True),
        np.array([[1 + 2j, complex(np.nan, -0.0)]]),
        np.int8(3),
        0.1,
        3,
        True,
        np.zeros((0, 3)),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        strided(np.arange(6.0).reshape(2, 3)),
        np.arange(100),
        np.frombuffer(b"\x01\x00\xc0\x7f", np.float32),
    ],
)
def test_literals_give_the_same_bits(value):
    made = eval(literal(value), {"np": np, "strided": strided})
    assert type(made) is type(value)
    if isinstance(value, np.ndarray):
        assert made.dtype == value.dtype
        assert made.flags.c_contiguous == value.flags.c_contiguous
        assert made.flags.f_contiguous == value.flags.f_contiguous
        assert made.tobytes() == value.tobytes()
    else:
        assert made == value


def test_inputs_come_back_as_they_were(tmp_path):
    file = str(tmp_path / "inputs.npz")
    values = {"a": np.ones((2, 3), np.float16), "b": np.float32(2), "c": 2**70, "d": True, "e": -0.0, "f": 1 + 2j}
    assert save_inputs(file, {**values, "mode": "x", "none": None}) == ("mode", "none")
    back = load_inputs(file)
    assert {name: type(value) for name, value in back.items()} == {name: type(value) for name, value in values.items()}
    assert all(np.array_equal(back[name], values[name]) for name in values)
    assert Outcome("a", "same").reason == ""


TOGETHER = """\
def twice(x, y):
    x += 1
    y *= 2
    return x + y


def moved(x, y):
    x[1:] += y[:-1]
    return y.sum()


def held(d):
    a = d["x"] - d["y"]
    b = d["y"] - d["x"]
    d["y"] += a * 2 + b
    return d["x"] * d["x"]
"""


def _together(name):
    """Arguments that share memory, made anew."""
    u = np.arange(5.0)
    return {
        "twice": {"x": u, "y": u},
        "moved": {"x": u[1:], "y": u[:-1]},
        "held": {"d": {"x": u, "y": u}},
    }[name]


@pytest.mark.parametrize("name", ["twice", "moved", "held"])
def test_arguments_that_share_memory(command, folder, name):
    """Also in a file, and in the test that is written."""
    (folder / "together.py").write_text(TOGETHER)
    scope = {}
    exec(TOGETHER, scope)
    values = _together(name)
    save_inputs(str(folder / "together.npz"), values, scope[name])
    back = load_inputs(str(folder / "together.npz"), scope[name])
    first, second = _arrays_in(back)
    assert np.shares_memory(first, second)
    plain = scope[name](*_together(name).values())
    np.testing.assert_array_equal(scope[name](*back.values()), plain)
    words = (f"together.py:{name}", "--inputs", "together.npz", "--target", "cpu")
    code, out, err = command(*words)
    assert (code, err) == (0, "") and "is NumPy's after every pass" in out


def _arrays_in(values):
    for value in values.values():
        yield from value.values() if isinstance(value, dict) else [value]


def test_what_is_written_keeps_memory_that_is_shared(command, folder):
    (folder / "together.py").write_text(TOGETHER)
    save_inputs(str(folder / "together.npz"), _together("moved"))
    words = ("together.py:moved", "--inputs", "together.npz", "--target", "cpu")
    wrong = fault("an offset is lost", "affine:Affine.__mul__", "self.offset * factor", "self.offset * 0")
    with planted(wrong):
        assert command(*words)[0] == 1
    (test,) = folder.glob("test_*.py")
    assert "part_of(MEMORY, " in test.read_text()
    scope = {}
    exec(compile(test.read_text(), str(test), "exec"), scope)
    (reproduce,) = (value for key, value in scope.items() if key.startswith("test_"))
    reproduce()
    with planted(wrong), pytest.raises((AssertionError, PytocuError)):
        reproduce()


def test_arguments_that_are_changed_have_their_names(command, folder):
    (folder / "together.py").write_text(TOGETHER)
    with planted(BY_NAME["equal with operands swapped"]):
        code, _, err = command("together.py:held", "--args", "{'x': f64[3], 'y': f64[3]}", "--target", "cpu")
    assert code == 1 and re.search(r"^  argument d\['y'\]\[\d\] is ", err, re.M), err


def test_a_program_of_one_memory_is_not_run_on_two():
    lowered = pytocu.jit(lambda x, y: np.copyto(x[1:], y[:-1])).lower(*_together("moved").values())
    with pytest.raises(InternalError, match="arguments x and y in one memory, and these are not"):
        interp.run(lowered.function, (np.arange(4.0), np.arange(100.0)[50:54]))
    with pytest.raises(BackendError, match="x and y overlap, and x_0 is 4, y_0 is 4, none of these share memory: "):
        lowered.compile("cpu")(np.arange(4.0), np.arange(100.0)[50:54])
