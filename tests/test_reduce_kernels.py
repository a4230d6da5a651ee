"""Kernels that reduce: how many there are, and that the interpreter of threads finds what is broken in them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.driver import kernel_function, launches
from pytocu.ir.core import Block, Function, Inst, walk
from pytocu.ir.dims import evaluate
from pytocu.ir.interp_threads import ThreadFault, run_threads


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def layernorm(x, gain, bias):
    mean = x.mean(axis=1, keepdims=True)
    return (x - mean) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5) * gain + bias


def moments(x):
    return x.mean(1), x.var(1)


def norm(x):
    return x / np.sqrt((x * x).sum(1, keepdims=True))


def extremes(x):
    return x.min(), x.max(), x.mean()


def centred(x):
    return x - x.mean()


ROWS = {
    "softmax": (softmax, ((9, 300),), 1),
    "layernorm": (layernorm, ((5, 4000), (4000,), (4000,)), 1),
    "moments of rows": (moments, ((3, 16384),), 1),
    "norm": (norm, ((40, 7),), 1),
    "few elements": (extremes, ((90, 100),), 1),
    "many elements": (extremes, ((300, 200),), 2),
    "centred": (centred, ((30000,),), 3),
}


@pytest.mark.parametrize("name", ROWS)
def test_how_many_kernels(name: str) -> None:
    function, shapes, count = ROWS[name]
    arrays = [np.random.default_rng(1).standard_normal(s).astype(np.float32) for s in shapes]
    jitted = pytocu.jit(function)
    assert len(jitted.lower(*arrays).kernels) == count
    found, wanted = jitted(*arrays), function(*arrays)
    for a, b in zip(*((v if isinstance(v, tuple) else (v,)) for v in (found, wanted)), strict=True):
        assert a.dtype == b.dtype and type(a) is type(b)
        np.testing.assert_allclose(a, b, rtol=3e-5, atol=1e-6)


def test_a_class_of_sizes_is_compiled_once() -> None:
    jitted = pytocu.jit(softmax)
    for rows, columns in ((3, 100), (7, 200), (1000, 255), (2, 65)):
        jitted(np.ones((rows, columns), np.float32))
    assert len(jitted.specializations) == 1
    jitted(np.ones((3, 10), np.float32))
    assert len(jitted.specializations) == 2
    assert any("is at most" in fact for s in jitted.specializations for fact in s.facts)


def _kernel(columns: bool) -> tuple[Function, list[Any], np.ndarray]:
    """A kernel with shared memory, its arguments, and where its result goes."""
    shape = (300, 40) if columns else (3, 600)
    x = np.random.default_rng(2).standard_normal(shape).astype(np.float32)
    host = pytocu.jit((lambda x: x.sum(0)) if columns else (lambda x: x.sum(1))).lower(x).host("cuda")
    (launch,) = launches(host)
    out = np.zeros(shape[1] if columns else shape[0], np.float32)
    known = {"x": x, **{p.name: out for p in launch.regions[0].params if p.name and p.name.endswith("out")}}
    lengths = {"x_0": shape[0], "x_1": shape[1]}
    arguments: list[Any] = []
    for param, given in zip(launch.regions[0].params, launch.args, strict=True):
        dim = given.inst.attr("value") if given.inst is not None else None
        arguments.append(known[param.name] if param.name in known else evaluate(dim, lengths))
    return kernel_function(host, launch), arguments, out


def _without(block: Block, number: list[int]) -> Block:
    """The block without its barrier number `number[0]`."""
    insts: list[Inst] = []
    for inst in block.insts:
        if inst.op.name == "barrier":
            number[0] -= 1
            if number[0] < 0 and number[0] == -1:
                continue
        for region in inst.regions:
            changed = _without(region, number)
            if changed is not region:
                inst = _with_regions(inst, tuple(changed if r is region else r for r in inst.regions))
        insts.append(inst)
    same = len(insts) == len(block.insts) and all(a is b for a, b in zip(insts, block.insts, strict=True))
    return block if same else Block(block.params, tuple(insts))


def _with_regions(inst: Inst, regions: tuple[Block, ...]) -> Inst:
    made = Inst(inst.op, inst.args, inst.attrs, inst.types, regions, inst.loc)
    object.__setattr__(made, "results", inst.results)
    return made


@pytest.mark.parametrize("columns", [False, True], ids=["rows", "columns"])
def test_every_barrier_is_needed(columns: bool) -> None:
    function, arguments, out = _kernel(columns)
    block = function.fact("block")
    run_threads(function, arguments, grid=2, block=block)
    x = arguments[0]
    np.testing.assert_allclose(out, x.sum(0 if columns else 1), rtol=1e-5, atol=1e-4)
    barriers = sum(inst.op.name == "barrier" for inst in walk(function.body))
    assert barriers >= 2
    for number in range(barriers):
        broken = Function(function.name, function.level, _without(function.body, [number]), function.facts)
        with pytest.raises(ThreadFault, match=r"race|uninitialised"):
            run_threads(broken, arguments, grid=1, block=block)


def test_an_exchange_needs_all_threads_of_a_warp() -> None:
    from pytocu.ir.parser import parse_function

    text = """loop func @f(%x: ptr f32, %out: ptr f32) {
      %0 = thread_index : index
      %1 = load %x, %0 : f32
      %2 = const 7 : index
      %3 = less %0, %2 : bool
      if %3 () {
        %4 = shuffle_xor %1 {mask = 1} : f32
        store %out, %0, %4
        yield
      } () {
        yield
      }
      return
    }"""
    with pytest.raises(ThreadFault, match="divergence"):
        run_threads(parse_function(text), [np.zeros(32, np.float32), np.zeros(32, np.float32)], block=32)
