"""The interpreters: NumPy's meaning at array and host level, and every planted fault found at loop level."""

from __future__ import annotations

import numpy as np
import pytest

from pytocu.errors import CompileError, DTypeError, IndexingError, InternalError, ShapeError
from pytocu.ir import dims
from pytocu.ir.builder import Builder
from pytocu.ir.core import OPS, Block, walk
from pytocu.ir.interp import arrange, bind_symbols, run
from pytocu.ir.interp_launch import Fault, ThreadFault
from pytocu.ir.interp_memory import Memory, memory_of
from pytocu.ir.interp_threads import run_threads
from pytocu.ir.parser import parse_function
from pytocu.ir.types import parse_type
from pytocu.testing.compare import compare, edge_values, ulp_distance

F32, F64 = np.float32, np.float64


def evaluate(params: str, line: str, *arguments: object):
    """The value of one array-level instruction."""
    function = parse_function(f"func @f({params}) {{\n  %r = {line}\n  return %r\n}}")
    (value,) = run(function, arguments)
    return value


# Array level.


def test_the_main_example():
    function = parse_function(
        """func @mask_out(%points: f32[n, 3], %mask: bool[n]) {
          check {dims = (n, n), kind = "broadcast", shapes = ((n, 1), (n, 3))}
          %0 = newaxis %mask {axis = 1} : bool[n, 1]
          %1 = const inf : weak float
          %2 = where %0, %1, %points : f32[n, 3]
          return %2
        }"""
    )
    points, mask = np.arange(12, dtype=F32).reshape(4, 3), np.array([True, False, True, False])
    compare(run(function, [points, mask]), (np.where(mask[:, np.newaxis], np.inf, points),))


@pytest.mark.parametrize(
    ("params", "line", "arguments", "expected"),
    [
        ("%x: f32[n], %y: weak int", "add %x, %y : f32[n]", (F32([1, 2]), 3), F32([4, 5])),
        ("%x: f32, %y: f32", "add %x, %y : f32", (F32(1), F32(2)), F32(3)),
        ("%x: f32[], %y: f32[]", "add %x, %y : f32", (np.array(1, F32), np.array(2, F32)), F32(3)),
        ("%x: f32[]", "cast %x : f64[]", (np.array(1, F32),), np.array(1.0)),
        ("%x: f32", "cast %x : i8", (F32(300),), np.int8(44)),
        ("%x: weak bool, %y: weak bool", "add %x, %y : weak int", (True, True), 2),
        ("%x: weak int, %y: weak int", "power %x, %y : weak float", (2, -1), 0.5),
        ("%x: weak int, %y: weak float", "power %x, %y : weak float", (-1, 2.5), (-1) ** 2.5),
        ("%x: weak int, %y: weak int", "floor_divide %x, %y : weak int", (-7, 2), -4),
        ("%x: weak int", "convert %x : i8", (-128,), np.int8(-128)),
        ("%c: bool[], %x: f32, %y: f32", "where %c, %x, %y : f32[]", (np.array(True), F32(1), F32(2)), np.array(1, F32)),
        ("", "const -0.0 : f32", (), F32(-0.0)),
        ("", "const 7 : i16[]", (), np.array(7, np.int16)),
        ("%x: f32[n]", "const 1.5 : f64[n + 1]", (F32([0]),), F64([1.5, 1.5])),
        ("%x: f32[n, m]", "dim {value = 2*m + n} : weak int", (np.zeros((3, 4), F32),), 11),
        ("%x: f32[n], %y: f32[n]", "maximum %x, %y : f32[n]", (F32([0.0, -0.0]), F32([-0.0, 0.0])), F32([0.0, -0.0])),
    ],
)
def test_values(params, line, arguments, expected):
    compare(evaluate(params, line, *arguments), expected)


def test_views_are_numpys_and_follow_their_index_map():
    x = np.arange(24.0).reshape(4, 6)
    cases = [
        ("newaxis %x {axis = 1} : f64[n, 1, m]", x[:, None]),
        ("transpose %x {axes = (1, 0)} : f64[m, n]", x.T),
        ("slice %x {size = (n - 1, 3), start = (1, m - 1), step = (1, -2)} : f64[n - 1, 3]", x[1:, ::-2]),
        ("slice %x {size = (0, m), start = (n, 0), step = (1, 1)} : f64[0, m]", x[4:]),
        ("slice %x {size = (n, m), start = (n - 1, 0), step = (-1, 1)} : f64[n, m]", x[::-1]),
        ("index %x {at = n - 1, axis = 0, keep = False} : f64[m]", x[-1]),
        ("index %x {at = 2, axis = 1, keep = False} : f64[n]", x[:, 2]),
        ("broadcast %x {expand = (), ndim = 2, shape = (5, n, m)} : f64[5, n, m]", np.broadcast_to(x, (5, 4, 6))),
    ]
    for line, expected in cases:
        got = evaluate("%x: f64[n, m]", line, x)
        compare(got, expected)
        assert got.size == 0 or np.shares_memory(got, x)
        inst = parse_function(f"func @f(%x: f64[n, m]) {{\n  %r = {line}\n  return %r\n}}").body.insts[0]
        attrs = {k: tuple(at(d) for d in v) if isinstance(v, tuple) else at(v) for k, v in inst.attrs}
        for index in np.ndindex(got.shape):
            assert got[index] == x[OPS[inst.op.name].index_map(index, attrs)]


def at(dim):
    return dims.evaluate(dim, {"n": 4, "m": 6}) if isinstance(dim, dims.Dim) else dim


def test_an_index_of_the_last_axis_is_a_scalar_unless_kept():
    x = np.arange(3.0)
    compare(evaluate("%x: f64[n]", "index %x {at = 2, axis = 0, keep = False} : f64", x), F64(2))
    kept = evaluate("%x: f64[n]", "index %x {at = 2, axis = 0, keep = True} : f64[]", x)
    compare(kept, np.array(2.0))
    assert np.shares_memory(kept, x)


@pytest.mark.parametrize(
    ("params", "line", "arguments", "error", "sentence"),
    [
        ("%x: weak int", "convert %x : i8", (300,), OverflowError, "Python integer 300 out of bounds for int8"),
        ("%x: u8[n], %y: weak int", "add %x, %y : u8[n]", (np.uint8([1]), 300), OverflowError, "out of bounds for uint8"),
        ("%x: weak int, %y: weak int", "divide %x, %y : weak float", (1, 0), ZeroDivisionError, "division by zero"),
        ("%x: i32[n], %y: i32[n]", "power %x, %y : i32[n]", (np.int32([2]), np.int32([-1])), ValueError,
         "negative integer powers"),
        ("%x: f32[n], %y: f32[m]", "add %x, %y : f32[n]", (F32([1, 2]), F32([1, 2, 3])), ValueError,
         "operands could not be broadcast together with shapes (2,) (3,) "),
    ],
)  # fmt: skip
def test_errors_are_numpys_with_a_place(params, line, arguments, error, sentence):
    with pytest.raises(error) as caught:
        evaluate(params, line, *arguments)
    assert isinstance(caught.value, CompileError)
    assert sentence in caught.value.message and caught.value.loc.line == 2


def test_checks_raise_numpys_sentences():
    function = parse_function(
        """func @f(%x: f32[n, 3], %y: f32[m, 1]) {
          check {dims = (n, m), kind = "broadcast", shapes = ((n, 3), (m, 1))}
          return
        }"""
    )
    assert run(function, [np.zeros((4, 3), F32), np.zeros((4, 1), F32)]) == ()
    with pytest.raises(ShapeError) as error:
        run(function, [np.zeros((2, 3), F32), np.zeros((4, 1), F32)])
    with pytest.raises(ValueError, match="could not be broadcast") as numpys:
        np.zeros((2, 3)) + np.zeros((4, 1))
    assert error.value.message == str(numpys.value)

    function = parse_function('func @f(%x: f32[n]) {\n  check {dims = (5, n, 0), kind = "index"}\n  return\n}')
    assert run(function, [np.zeros(6, F32)]) == ()
    with pytest.raises(IndexingError) as error:
        run(function, [np.zeros(3, F32)])
    with pytest.raises(IndexError) as numpys:
        np.zeros(3)[5]
    assert error.value.message == str(numpys.value)
    negative = parse_function('func @f(%x: f32[n]) {\n  check {dims = (-3, n, 0), kind = "index"}\n  return\n}')
    assert run(negative, [np.zeros(3, F32)]) == ()
    with pytest.raises(IndexingError, match="index -3 is out of bounds for axis 0 with size 2"):
        run(negative, [np.zeros(2, F32)])


def test_assumptions_are_held():
    function = parse_function("func @f(%x: f32[n]) {\n  assume {dim = n, number = 1, relation = \"!=\"}\n  return\n}")
    assert run(function, [np.zeros(2, F32)]) == () == run(function, [np.zeros(0, F32)])
    with pytest.raises(InternalError, match="assumes that n is not 1"):
        run(function, [np.zeros(1, F32)])


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("add %x, %x : f64[n]", "f32"),
        ("newaxis %x {axis = 0} : f32[2, n]", "shape"),
        ("add %x, %x : f32", "scalar"),
        ("slice %x {size = (n,), start = (1,), step = (1,)} : f32[n]", "reads"),
        ("index %x {at = n, axis = 0, keep = False} : f32", "reads"),
        ("broadcast %x {expand = (), ndim = 1, shape = (4, 3)} : f32[4, 3]", "keeps"),
    ],
)
def test_a_wrong_type_or_attribute_is_found(line, value):
    with pytest.raises(InternalError):
        evaluate("%x: f32[n]", line, F32([1]) if value == "keeps" else F32([1, 2]))


def test_symbols_are_bound_by_the_first_bare_occurrence():
    function = parse_function("func @f(%a: f32[n + 1], %x: f32[n, m], %y: f32[m]) {\n  return\n}")
    arguments = [np.zeros(3, F32), np.zeros((2, 5), F32), np.zeros(5, F32)]
    assert bind_symbols(function, arguments) == {"n": 2, "m": 5}
    assert run(function, arguments) == ()
    with pytest.raises(ShapeError, match="m is 5 by an earlier argument"):
        run(function, [*arguments[:2], np.zeros(4, F32)])
    with pytest.raises(ShapeError, match=r"argument 0 has shape \(4,\)"):
        run(function, [np.zeros(4, F32), *arguments[1:]])
    with pytest.raises(ShapeError):
        run(function, [*arguments[:2], np.zeros((5, 1), F32)])
    with pytest.raises(DTypeError, match="dtype float64"):
        run(function, [*arguments[:2], np.zeros(5)])
    with pytest.raises(TypeError, match="takes 3 arguments"):
        run(function, arguments[:2])
    facts = 'facts {symbols = (("n", 0, 0),)}'
    stated = parse_function(f"func @f(%x: f32[m; S]) {facts} {{\n  %0 = dim {{value = n}} : weak int\n  return %0\n}}")
    assert run(stated, [np.zeros(7, F32)]) == (7,)


@pytest.mark.parametrize(
    ("type", "argument"), [("weak int", 1.0), ("weak float", F64(1)), ("f32", 1.0), ("f32", F64(1)), ("f32[n]", [1.0])]
)
def test_scalar_arguments_are_what_their_type_says(type, argument):
    with pytest.raises(DTypeError):
        run(parse_function(f"func @f(%x: {type}) {{\n  return\n}}"), [argument])


def test_kernel_regions_and_trees():
    function = parse_function(
        """func @f(%x: f32[n]) {
          %y, %z = kernel %x {name = "k"} : f32[n], f32[n] (%a: f32[n]) {
            %0 = add %a, %a : f32[n]
            %1 = multiply %a, %a : f32[n]
            yield %0, %1
          }
          return %z, %y {tree = (1, (0, 0))}
        }"""
    )
    x = F32([1, 3])
    results = run(function, [x])
    compare(results, (x * x, x + x))
    compare(arrange(function.body.terminator.attr("tree"), results), (x + x, (x * x, x * x)))
    compare(arrange(0, results), x * x)
    compare(arrange(None, results), results)


def test_a_long_function_needs_no_deep_stack():
    b = Builder()
    x = value = b.param(parse_type("i64[n]"), "x")
    for _ in range(20_000):
        value = b.emit("add", (value, x))
    b.emit("return", (value,))
    compare(run(b.function("deep", "array", (x,)), [np.int64([1, 2])]), (np.int64([20_001, 40_002]),))


# Host level.

HOST = """
host func @host(%x: f32[n, 3; S], %k: weak float) facts {index_bits = 32} {
  %s0 = stride %x {axis = 0} : index
  %s1 = stride %x {axis = 1} : index
  %n = dim {value = 3*n} : index
  %k32 = convert %k : f32
  %out = allocate : f32[n, 3]
  launch %x, %k32, %s0, %s1, %n, %out {block = 4, name = "k", outputs = 1, work = 3*n} \
(%x: ptr f32, %k: f32, %s0: index, %s1: index, %n: index, %out: ptr f32) {
    %zero = const 0 : index
    %one = const 1 : index
    %three = const 3 : index
    for %zero, %n, %one {over = "OVER"} (%i: index) {
      %row = divide_truncated %i, %three : index
      %column = remainder_truncated %i, %three : index
      %0 = multiply %row, %s0 : index
      %1 = multiply %column, %s1 : index
      %2 = add %0, %1 : index
      %3 = load %x, %2 : f32
      %4 = multiply %3, %k : f32
      store %out, %i, %4
      yield
    }
    return
  }
  return %out
}"""


@pytest.mark.parametrize("over", ["grid", "parallel"])
def test_a_lowered_launch_runs_over_strided_memory(over):
    function = parse_function(HOST.replace("OVER", over))
    base = np.arange(60, dtype=F32).reshape(10, 6)
    for x in (base[:, ::2], base[::-1, ::-2], base[::3, :3], base[:0, :3], np.asfortranarray(base[:, :3]), base[:1, :3]):
        compare(run(function, [x, 2.0]), (np.ascontiguousarray(x * F32(2)),))


def test_an_array_level_launch_stores_what_it_yields():
    function = parse_function(
        """host func @host(%x: f32[n]) {
          %a = allocate : f32[n]
          %b = allocate : f32[n]
          launch %x, %a, %b {name = "k", outputs = 2} (%x: f32[n]) {
            %0 = add %x, %x : f32[n]
            %1 = negative %x : f32[n]
            yield %0, %1
          }
          return %a, %b
        }"""
    )
    compare(run(function, [F32([1, 2])]), (F32([2, 4]), F32([-1, -2])))
    with pytest.raises(InternalError, match="is not laid out"):
        run(function, [np.zeros(4, F32)[::2]])


def test_a_result_nobody_wrote_is_found():
    with pytest.raises(InternalError, match="nobody wrote 2 elements of result 0"):
        run(parse_function("host func @f(%x: f32[n]) {\n  %0 = allocate : f32[n]\n  return %0\n}"), [F32([1, 2])])
    short = HOST.replace("OVER", "grid").replace("%n = dim {value = 3*n}", "%n = dim {value = 3*n - 1}")
    with pytest.raises(InternalError, match="nobody wrote 1 elements"):
        run(parse_function(short), [np.zeros((2, 3), F32), 1.0])


# Loop level.


def loop(body: str, params: str = "%x: ptr f32, %out: ptr f32, %n: index", facts: str = ""):
    """A loop-level function with the constants 0 to 3 of index type."""
    consts = "".join(f"%c{k} = const {k} : index\n" for k in range(4))
    return parse_function(f"loop func @f({params}){facts} {{\n{consts}{body}\nreturn\n}}")


def fault_of(function, arguments, **options) -> Fault:
    with pytest.raises(ThreadFault) as caught:
        run_threads(function, arguments, **options)
    collected: list[Fault] = []
    run_threads(function, arguments, faults=collected, **options)
    assert collected[0].kind == caught.value.fault.kind
    return caught.value.fault


COPY = """for %c0, %n, %c1 {over = "grid"} (%i: index) {
  %v = load %x, %i : f32
  store %out, %i, %v
  yield
}"""


@pytest.mark.parametrize(("grid", "block", "size"), [(1, 1, 5), (1, 32, 5), (3, 4, 100), (4, 8, 0), (2, 8, 16), (1, 7, 8)])
@pytest.mark.parametrize("over", ["grid", "parallel"])
def test_every_iteration_runs_once(over, grid, block, size):
    x, out = np.arange(size, dtype=F32) + 1, np.zeros(size, F32)
    run_threads(loop(COPY.replace("grid", over)), [x, out, size], grid=grid, block=block)
    compare(out, x)


def test_run_takes_loop_functions():
    x, out = F32([1, 2, 3]), np.zeros(3, F32)
    assert run(loop(COPY), [x, out, 3]) == ()
    compare(out, x)


def test_carried_values_with_a_trip_count_per_thread():
    function = loop(
        """for %c0, %n, %c1 {over = "grid"} (%i: index) {
          %zero = const 0.0 : f32
          %sum, %steps = for %c0, %i, %c2, %zero, %c0 {over = "serial"} : f32, index (%j: index, %s: f32, %k: index) {
            %v = load %x, %j : f32
            %s1 = add %s, %v : f32
            %k1 = add %k, %c1 : index
            yield %s1, %k1
          }
          %kf = convert_raw %steps : f32
          %r = multiply %sum, %kf : f32
          store %out, %i, %r
          yield
        }"""
    )
    x, out = np.arange(1, 41, dtype=F32), np.zeros(40, F32)
    run_threads(function, [x, out, 40], grid=2, block=8)
    compare(out, F32([x[:i:2].sum() * len(x[:i:2]) for i in range(40)]))


def test_if_takes_each_threads_side():
    function = loop(
        """for %c0, %n, %c1 {over = "grid"} (%i: index) {
          %odd = remainder_truncated %i, %c2 : index
          %is = equal %odd, %c1 : bool
          %r, %same = if %is : f32, index () {
            %v = load %x, %i : f32
            yield %v, %i
          } () {
            %k = const -1.0 : f32
            yield %k, %i
          }
          store %out, %same, %r
          yield
        }"""
    )
    x, out = np.arange(10, dtype=F32), np.zeros(10, F32)
    run_threads(function, [x, out, 10], block=4)
    compare(out, np.where(np.arange(10) % 2 == 1, x, F32(-1)))
    # The side nobody takes must not run: it would read out of bounds.
    out[:] = 0
    run_threads(function, [np.zeros(0, F32), out[:1], 1], block=4)
    assert out[0] == -1


def test_while_ends_for_each_thread_at_its_time():
    function = loop(
        """for %c0, %n, %c1 {over = "grid"} (%i: index) {
          %start = add %i, %c1 : index
          %end, %steps = while %start, %c0 : index, index (%v: index, %s: index) {
            %more = not_equal %v, %c1 : bool
            yield %more, %v, %s
          } (%v1: index, %s1: index) {
            %half = divide_truncated %v1, %c2 : index
            %rest = remainder_truncated %v1, %c2 : index
            %even = equal %rest, %c0 : bool
            %t = multiply %v1, %c3 : index
            %u = add %t, %c1 : index
            %next = where %even, %half, %u : index
            %s2 = add %s1, %c1 : index
            yield %next, %s2
          }
          %f = convert_raw %steps : f32
          store %out, %i, %f
          yield
        }"""
    )
    out = np.zeros(30, F32)
    run_threads(function, [np.zeros(0, F32), out, 30], block=16, grid=2)

    def collatz(v: int) -> int:
        steps = 0
        while v != 1:
            v, steps = (v // 2 if v % 2 == 0 else 3 * v + 1), steps + 1
        return steps

    compare(out, F32([collatz(i + 1) for i in range(30)]))


def test_a_thread_that_returned_does_nothing_more():
    function = loop(
        """%t = thread_index : index
        %late = greater_equal %t, %n : bool
        if %late () {
          return
        } () {
          yield
        }
        barrier
        %v = load %x, %t : f32
        store %out, %t, %v"""
    )
    x, out = np.arange(5, dtype=F32), np.zeros(5, F32)
    run_threads(function, [x, out, 5], block=8)
    compare(out, x)


REVERSE = """%s = shared {size = 8} : ptr shared f32
%t = thread_index : index
%b = block_index : index
%last = const 7 : index
%eight = const 8 : index
%base = multiply %b, %eight : index
%i = add %base, %t : index
%v = load %x, %i : f32
store %s, %t, %v
barrier
%other = subtract %last, %t : index
%w = load %s, %other : f32
store %out, %i, %w"""


def test_shared_memory_belongs_to_a_block():
    x, out = np.arange(24, dtype=F32), np.zeros(24, F32)
    run_threads(loop(REVERSE), [x, out, 24], grid=3, block=8)
    compare(out, x.reshape(3, 8)[:, ::-1].ravel())


def test_deeply_nested_regions_need_no_deep_stack():
    b = Builder()
    out = b.param(parse_type("ptr i32"), "out")
    true = b.const(True, parse_type("bool"))
    zero = b.const(0, parse_type("index"))
    one = b.const(1, parse_type("i32"))
    outer = b.take()
    b.emit("store", (out, zero, one))
    b.emit("yield")
    inner = b.take()
    for _ in range(400):
        b.emit("yield")
        empty = Block((), b.take())
        b.inst("if", (true,), {}, (), (Block((), inner), empty))
        b.emit("yield")
        inner = b.take()
    b.insts.extend((*outer, *inner[:-1]))
    b.emit("return")
    memory = np.zeros(1, np.int32)
    run_threads(b.function("deep", "loop", (out,)), [memory], block=1)
    assert memory[0] == 1


def test_out_of_bounds_read_and_write():
    x, out = np.zeros(4, F32), np.zeros(8, F32)
    fault = fault_of(loop(COPY), [x, out, 6], block=8)
    assert (fault.kind, fault.index, fault.size, fault.thread, fault.block) == ("out-of-bounds", 4, 4, 4, 0)
    assert fault.text == "%v = load %x, %i" and "read" in fault.message and fault.loc.line == 7
    fault = fault_of(loop(COPY), [out, x, 6], grid=3, block=2)
    assert (fault.kind, fault.index, fault.thread, fault.block) == ("out-of-bounds", 4, 0, 2)
    assert fault.text == "store %out, %i, %v" and "write" in fault.message
    negative = COPY.replace("load %x, %i", "load %x, %j").replace("%v =", "%j = subtract %i, %c1 : index\n%v =")
    assert fault_of(loop(negative), [x, out, 4]).index == -1


def test_elements_between_those_of_a_strided_array_are_out_of_bounds():
    data = np.arange(10, dtype=F32)
    fault = fault_of(loop(COPY), [data[::2], np.zeros(10, F32), 5])
    assert (fault.kind, fault.index) == ("out-of-bounds", 1)
    memory = memory_of(data[::-1])
    assert (memory.base, memory.allowed.all()) == (9, True)


def test_uninitialised_read():
    out = memory_of(np.zeros(8, F32), initialised=False)
    fault = fault_of(loop(COPY), [out, np.zeros(8, F32), 8])
    assert (fault.kind, fault.index, fault.thread) == ("uninitialised", 0, 0)
    run_threads(loop(COPY), [np.ones(8, F32), out, 8])
    run_threads(loop(COPY), [out, np.zeros(8, F32), 8])
    unwritten = REVERSE.replace("store %s, %t, %v\n", "")
    assert fault_of(loop(unwritten), [np.zeros(8, F32), np.zeros(8, F32), 8], block=8).kind == "uninitialised"


def test_a_missing_barrier_is_a_race():
    x, out = np.zeros(8, F32), np.zeros(8, F32)
    fault = fault_of(loop(REVERSE.replace("barrier\n", "")), [x, out, 8], block=8)
    assert (fault.kind, fault.text) == ("race", "%w = load %s, %other")
    # Reading, then writing what another thread read, needs a barrier too.
    again = REVERSE + "\nstore %s, %t, %w"
    assert fault_of(loop(again), [x, out, 8], block=8).text == "store %s, %t, %w"
    run_threads(loop(REVERSE + "\nbarrier\nstore %s, %t, %w"), [x, out, 8], block=8)
    # One thread alone races with nobody.
    alone = REVERSE.replace("barrier\n", "").replace("const 7", "const 0").replace("const 8", "const 1")
    run_threads(loop(alone), [x, out, 1], block=1)


def test_whoever_read_is_remembered():
    # Thread 3, the last of several readers, writes what the others read too.
    body = """%s = shared {size = 4} : ptr shared f32
    %t = thread_index : index
    %v = load %x, %t : f32
    store %s, %t, %v
    barrier
    %w = load %s, FIRST : f32
    MIDDLE
    %last = equal %t, %c3 : bool
    if %last () {
      SECOND
      store %s, %c0, %w
      yield
    } () {
      yield
    }"""
    x = np.zeros(4, F32)
    together = body.replace("FIRST", "%c0").replace("SECOND\n", "")
    assert fault_of(loop(together.replace("MIDDLE", "")), [x, x.copy(), 4], block=4).thread == 3
    run_threads(loop(together.replace("MIDDLE", "barrier")), [x, x.copy(), 4], block=4)
    # Thread 0 read it alone, thread 3 reads it later and writes.
    later = body.replace("FIRST", "%t").replace("SECOND", "%again = load %s, %c0 : f32")
    assert fault_of(loop(later.replace("MIDDLE", "")), [x, x.copy(), 4], block=4).thread == 3
    run_threads(loop(later.replace("MIDDLE", "barrier")), [x, x.copy(), 4], block=4)


def test_a_read_of_another_block_is_remembered():
    body = """%b = block_index : index
    %v = load %x, %c0 : f32
    %second = equal %b, %c1 : bool
    if %second () {
      store %x, %c0, %v
      yield
    } () {
      yield
    }"""
    memory = np.zeros(1, F32)
    fault = fault_of(loop(body), [memory, memory.copy(), 1], grid=2, block=1)
    assert (fault.kind, fault.block) == ("race", 1)
    # Its own barrier and another read do not make a block forget the other one.
    again = body.replace("store %x", "barrier\n%w = load %x, %c0 : f32\nstore %x")
    assert fault_of(loop(again), [memory, memory.copy(), 1], grid=2, block=1).block == 1
    run_threads(loop(body.replace("%c0", "%b")), [np.zeros(2, F32), memory, 1], grid=2, block=1)


def test_two_threads_writing_one_element_race():
    same = COPY.replace("store %out, %i, %v", "%j = divide_truncated %i, %c2 : index\nstore %out, %j, %v")
    x, out = np.zeros(8, F32), np.zeros(8, F32)
    fault = fault_of(loop(same), [x, out, 8], block=8)
    assert (fault.kind, fault.index, fault.thread) == ("race", 0, 0)
    # Two blocks meet only in global memory, at any distance in time; one thread may write twice.
    mirrored = COPY.replace("store %out, %i, %v", "%j = remainder_truncated %i, %n2 : index\nstore %out, %j, %v")
    params = "%x: ptr f32, %out: ptr f32, %n: index, %n2: index"
    fault = fault_of(loop(mirrored, params), [x, out, 8, 4], grid=2, block=4)
    assert (fault.kind, fault.block) == ("race", 1)
    run_threads(loop(mirrored, params), [x, out, 8, 4], grid=1, block=4)
    # Iterations of a parallel loop may land on any CPU thread, so there it is a race.
    assert fault_of(loop(mirrored.replace("grid", "parallel"), params), [x, out, 8, 4], block=4).kind == "race"


def test_after_a_parallel_loop_a_thread_is_itself_again():
    body = """%t = thread_index : index
    %v = load %x, %t : f32
    store %out, %t, %v
    for %c0, %n, %c1 {over = "parallel"} (%i: index) {
      yield
    }
    store %out, %t, %v"""
    x, out = np.arange(1, 5, dtype=F32), np.zeros(4, F32)
    run_threads(loop(body), [x, out, 8], block=4)
    np.testing.assert_array_equal(out, x)


def test_reading_what_another_thread_of_the_launch_writes_races():
    shifted = COPY.replace("load %x, %i", "load %out, %j").replace("%v =", "%j = remainder_truncated %k, %n : index\n%v =")
    shifted = shifted.replace("%j =", "%k = add %i, %c1 : index\n%j =")
    x, out = np.zeros(8, F32), np.zeros(8, F32)
    assert fault_of(loop(shifted), [x, out, 8], block=8).kind == "race"
    assert fault_of(loop(shifted), [x, out, 8], grid=8, block=1).kind == "race"
    # One array given for two pointers is one memory.
    aliased = shifted.replace("load %out", "load %x")
    run_threads(loop(aliased), [x, out, 8], block=8)
    assert fault_of(loop(aliased), [out, out, 8], block=8).kind == "race"
    run_threads(loop(COPY), [out, out, 8], block=8)


def test_a_barrier_orders_global_memory_within_a_block_only():
    body = REVERSE.replace("%s = shared {size = 8} : ptr shared f32\n", "").replace("store %s, %t, %v", "store %x, %i, %v")
    body = body.replace("%w = load %s, %other", "%o = OTHER\n%w = load %x, %o")
    within = body.replace("OTHER", "add %base, %other : index")
    run_threads(loop(within), [np.zeros(16, F32), np.zeros(16, F32), 16], grid=2, block=8)
    across = body.replace("OTHER", "add %c0, %other : index")
    assert fault_of(loop(across), [np.zeros(16, F32), np.zeros(16, F32), 16], grid=2, block=8).kind == "race"


def test_divergence_at_a_barrier():
    some = """%t = thread_index : index
    %first = less %t, %c2 : bool
    if %first () {
      barrier
      yield
    } () {
      yield
    }"""
    fault = fault_of(loop(some), [np.zeros(0, F32), np.zeros(0, F32), 0], block=4)
    assert (fault.kind, fault.thread, fault.text) == ("divergence", 2, "barrier")
    run_threads(loop(some), [np.zeros(0, F32), np.zeros(0, F32), 0], block=2)
    uneven = 'for %c0, %n, %c1 {over = "grid"} (%i: index) {\nbarrier\nyield\n}'
    assert fault_of(loop(uneven), [np.zeros(0, F32), np.zeros(0, F32), 6], block=4).kind == "divergence"
    run_threads(loop(uneven), [np.zeros(0, F32), np.zeros(0, F32), 8], block=4)


def test_index_overflow():
    body = """%t = thread_index : index
    %a = multiply %n, %c2 : index"""
    facts = " facts {index_bits = 32}"
    empty = np.zeros(0, F32)
    fault = fault_of(loop(body, facts=facts), [empty, empty, 2**30], block=2)
    assert (fault.kind, fault.index, fault.text) == ("index-overflow", 2**31, "%a = multiply %n, %c2")
    run_threads(loop(body, facts=facts), [empty, empty, 2**30 - 1])
    run_threads(loop(body), [empty, empty, 2**30])
    assert fault_of(loop(body), [empty, empty, 2**30], index_bits=32).kind == "index-overflow"
    assert fault_of(loop("", facts=facts), [empty, empty, 2**31]).kind == "index-overflow"
    # The step after the last iteration is computed too.
    step = 'for %from, %n, %c1 {over = "grid"} (%i: index) {\nyield\n}'
    params = "%x: ptr f32, %out: ptr f32, %n: index, %from: index"
    top = 2**31 - 1
    assert fault_of(loop(step, params, facts), [empty, empty, top, top - 2], block=4).kind == "index-overflow"
    run_threads(loop(step, params, facts), [empty, empty, top - 8, top - 10], block=4)
    for over in ("grid", "serial"):
        by_three = loop(step.replace("%c1", "%c3").replace("grid", over), params, facts)
        assert fault_of(by_three, [empty, empty, top, top - 2], block=1).index == 2**31
        run_threads(by_three, [empty, empty, top, top - 3], block=1)


@pytest.mark.parametrize(
    ("line", "type", "x", "y"),
    [
        ("divide_truncated %a, %b", "i32", 1, 0),
        ("divide_truncated %a, %b", "i32", -(2**31), -1),
        ("remainder_truncated %a, %b", "u8", 1, 0),
        ("shift_left_raw %a, %b", "i32", 1, 32),
        ("shift_right_raw %a, %b", "i64", 1, -1),
        ("convert_raw %a", "f32", 3e9, 0),
        ("convert_raw %a", "f64", float("nan"), 0),
    ],
)
def test_operands_a_raw_row_forbids(line, type, x, y):
    result = "i32" if line.startswith("convert") else type
    body = f"%a = load %x, %c0 : {type}\n%b = load %x, %c1 : {type}\n%r = {line} : {result}"
    function = loop(body, params=f"%x: ptr {type}")
    dtype = parse_type(type).dtype.numpy
    fault = fault_of(function, [np.array([x, y], dtype)], block=2)
    assert (fault.kind, fault.thread) == ("undefined", 0)
    run_threads(function, [np.array([7, 2], dtype)], block=2)


def test_a_speculated_operand_of_an_idle_thread_is_no_fault():
    function = loop(
        """for %c0, %n, %c1 {over = "grid"} (%i: index) {
          %nonzero = not_equal %i, %c0 : bool
          %r = if %nonzero : index () {
            %q = divide_truncated %n, %i : index
            yield %q
          } () {
            yield %c0
          }
          %f = convert_raw %r : f32
          store %out, %i, %f
          yield
        }"""
    )
    out = np.zeros(5, F32)
    run_threads(function, [out, out, 5], block=8)
    compare(out, F32([0, 5, 2, 1, 1]))


def test_an_endless_loop_is_reported():
    body = """%r = while %c0 : index (%v: index) {
      %go = equal %v, %v : bool
      yield %go, %v
    } (%w: index) {
      yield %w
    }"""
    empty = np.zeros(0, F32)
    assert fault_of(loop(body), [empty, empty, 0], limit=50).kind == "endless"
    step = 'for %c0, %n, %c0 {over = "serial"} (%i: index) {\nyield\n}'
    assert fault_of(loop(step), [empty, empty, 1]).kind == "undefined"


@pytest.mark.parametrize(
    ("line", "x", "expected"),
    [
        ("divide_truncated %a, %b : i32", np.int32([-7, 2]), -3),
        ("remainder_truncated %a, %b : i32", np.int32([-7, 2]), -1),
        ("divide_truncated %a, %b : u64", np.uint64([2**64 - 1, 3]), (2**64 - 1) // 3),
        ("shift_right_raw %a, %b : i32", np.int32([-8, 1]), -4),
        ("shift_left_raw %a, %b : i32", np.int32([2**30, 1]), -(2**31)),
        ("add %a, %b : i8", np.int8([127, 1]), -128),
        ("multiply %a, %b : f32", F32([1e30, 1e30]), np.inf),
        ("negative %a : f32", F32([0, 0]), -0.0),
        ("add %a, %b : f32", F32([2**24, 1]), 2**24),
    ],
)
def test_primitives_are_cs(line, x, expected):
    type = line.split(" : ")[1]
    body = f"%a = load %x, %c0 : {type}\n%b = load %x, %c1 : {type}\n%r = {line}\nstore %out, %c0, %r"
    out = np.zeros(1, x.dtype)
    run_threads(loop(body, params=f"%x: ptr {type}, %out: ptr {type}"), [x, out], block=1)
    compare(out, np.array([expected]).astype(x.dtype))


def test_collected_faults_do_not_stop_the_run():
    x, out = np.arange(4, dtype=F32), np.zeros(6, F32)
    faults: list[Fault] = []
    run_threads(loop(COPY), [x, out, 6], grid=3, block=2, faults=faults)
    assert [f.kind for f in faults] == ["out-of-bounds"]
    compare(out[:4], x)


def test_wrong_arguments_are_refused():
    with pytest.raises(InternalError, match="is given"):
        run_threads(loop(COPY), [np.zeros(3), np.zeros(3, F32), 3])
    with pytest.raises(InternalError, match="no multiple"):
        memory_of(np.zeros(3, np.dtype([("a", "i1"), ("b", "f4")]))["b"])
    assert isinstance(memory_of(np.zeros((), F32)), Memory)


# The comparison every test leans on.


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (F32(1), 1.0),
        (1.0, F32(1)),
        (np.array(1.0), F64(1)),
        (F32([1]), F64([1])),
        (F32([1]), F32([[1]])),
        (1, True),
        (F32([0.0]), F32([-0.0])),
        (F32([1, 2]), F32([1, 3])),
        (F32([np.nan]), F32([1])),
        (np.int32([1]), np.int32([2])),
        (np.complex64([complex(1, -0.0)]), np.complex64([1])),
        ((F32(1),), [F32(1)]),
        ((F32(1),), (F32(1), F32(2))),
        ((F32(1), F32(2)), (F32(1), F32(3))),
        (None, F32(1)),
    ],
)
def test_compare_is_strict(actual, expected):
    with pytest.raises(AssertionError):
        compare(actual, expected)
    compare(expected, expected)
    compare(actual, actual)


def test_compare_reads_well():
    with pytest.raises(AssertionError) as error:
        compare(F32([[1, 2], [3, 4]]), np.array([[1, 2], [np.nextafter(F32(3), F32(4)), 5]], F32))
    assert str(error.value).splitlines() == [
        "2 of 4 elements differ, first at [1, 0]:",
        "  actual   3.0 (0x40400000)",
        "  expected 3.0000002 (0x40400001)",
        "  distance 1 ulp",
    ]


def test_compare_within_ulps():
    one = F32([1.0])
    near = np.nextafter(np.nextafter(one, F32(2)), F32(2))
    compare(near, one, exact=False, ulp=2)
    with pytest.raises(AssertionError, match="distance 2 ulp, 1 allowed"):
        compare(near, one, exact=False, ulp=1)
    with pytest.raises(AssertionError):
        compare(np.int32([1]), np.int32([2]), exact=False, ulp=9)
    with pytest.raises(AssertionError):
        compare(F32([np.nan]), one, exact=False, ulp=1e30)


@pytest.mark.parametrize("dtype", [np.float16, F32, F64])
def test_ulp_distance_counts_numbers(dtype):
    tiny = np.nextafter(dtype(0), dtype(1))
    assert ulp_distance(dtype(0.0), dtype(-0.0)) == 0
    assert ulp_distance(tiny, -tiny) == 2
    top = np.finfo(dtype).max
    assert ulp_distance(top, dtype(np.inf)) == 1
    assert ulp_distance(dtype(np.nan), dtype(np.nan)) == 0
    assert ulp_distance(dtype(np.nan), top) == np.inf
    values = edge_values(dtype, 200)
    values = values[np.isfinite(values) & (np.abs(values) < top)]
    assert (ulp_distance(values, np.nextafter(values, dtype(np.inf))) == 1).all()


@pytest.mark.parametrize("dtype", ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "c8"])
def test_edge_values_have_the_edges_and_repeat(dtype):
    values = edge_values(dtype, 300, seed=3)
    assert values.dtype == np.dtype(dtype) and values.shape == (300,)
    assert values.tobytes() == edge_values(dtype, 300, seed=3).tobytes()
    assert dtype == "?" or values.tobytes() != edge_values(dtype, 300, seed=4).tobytes()
    if values.dtype.kind in "iu":
        assert {np.iinfo(dtype).min, np.iinfo(dtype).max, 0, 1} <= set(values.tolist())
    if values.dtype.kind == "f":
        assert np.isnan(values).any() and np.isposinf(values).any() and np.isneginf(values).any()
        zeros = values[values == 0]
        assert {bool(s) for s in np.signbit(zeros)} == {True, False}
        assert ((values != 0) & (np.abs(values) < np.finfo(dtype).tiny)).any()


def test_walk_meets_every_instruction_once():
    function = parse_function(HOST.replace("OVER", "grid"))
    names = [i.op.name for i in walk(function.body)]
    assert names.count("store") == 1 and names[-1] == "return" and len(names) == 21
