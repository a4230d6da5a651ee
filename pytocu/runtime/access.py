"""Programs for the arrays of one library: how they are read, made and given to kernels.

The templates of :mod:`pytocu.runtime.libraries` take what identifies a signature; these fill in the
rest.  A program answers ``NotImplemented``, before it has done anything that can be seen, for a call
that only the generic one knows how to judge: misaligned memory, or another context than the kernels'.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pytocu.ir.types import DType
from pytocu.record import Record
from pytocu.runtime import cuda, failures, host_memory
from pytocu.runtime.libraries import LIBRARIES
from pytocu.runtime.plan import Plan
from pytocu.runtime.templates import Access


def access_of(
    library: str,
    device: int | str,
    plan: Plan,
    kernels: Callable[[int], Sequence[cuda.Kernel]],
    addresses: Callable[[], Sequence[int]],
    words: Callable[[int], failures.SharedWords],
    graphs: Callable[[int], Mapping[int, Any]],
) -> Access:
    """How a program for a library's arrays on a device reads, makes and launches.

    Parameters
    ----------
    device : int or str
        CUDA ordinal, or ``"cpu"``.
    plan : Plan
    kernels : callable
        ``kernels(device)``: them, loaded there.
    addresses : callable
        ``addresses()``: them, as native functions.
    words : callable
        ``words(device)``: where they note what is wrong with the data.
    graphs : callable
        ``graphs(device)``: the loops whose launches are put into graphs.
    """
    make = {"numpy": _numpy, "cupy": _cupy, "torch": _torch}[library]
    arrays = make(device)
    if device == "cpu":
        from pytocu.runtime import on_cpu

        launch = on_cpu.launch_of(plan, addresses)
    else:
        from pytocu.runtime import on_cuda

        launch = on_cuda.launch_of(plan, int(device), kernels, words, graphs)
    return Access(
        shape="s{n}",
        pointer="p{n}",
        strides=arrays.strides,
        allocate=arrays.allocate,
        maker=arrays.maker,
        made_pointer=arrays.made_pointer,
        launch=launch.launch,
        idle=launch.idle,
        scalar=arrays.scalar,
        array="{made}",
        dtype=arrays.dtype,
        globals={**arrays.globals, **launch.globals, **_steps(plan)},
        given=LIBRARIES[library].given,
        keep=launch.keep,
        setup=(
            f"p{{n}} = {arrays.pointer}",
            *([f"stream = {arrays.stream}"] if device != "cpu" else []),
        ),
        misaligned="if ({pointers}) & {mask}: return NotImplemented",
        writable=arrays.writable,
        shared="return NotImplemented",
        failures=launch.failures,
        failed=launch.failed,
        noticed=launch.noticed,
        settled=launch.settled,
        word="read_host_word({pointer})" if device == "cpu" else f"read_device_word({{pointer}}, stream, {device})",
        library=f"call_library({library!r}, {{name!r}}, {{operands}}, {{options}}, {{results}})",
        steps=launch.steps,
        note=launch.note,
        until=launch.until,
        note_flag=launch.note_flag,
        computes=launch.computes,
        bound=True,
        loaded=launch.loaded,
    )


def _steps(plan: Plan) -> Mapping[str, Any]:
    """What plans need that read lengths or call libraries."""
    if not any(step[0] in ("read_length", "library") for step in plan.steps):
        return {}
    from pytocu.runtime import host_steps

    return {name: getattr(host_steps, name) for name in ("read_host_word", "read_device_word", "call_library")}


def native_access(library: str, device: int | str, plan: Plan, words: Callable[[int], failures.SharedWords]) -> Access:
    """How the text is written that `pytocu.runtime.call_words` reads, for plans of launches alone.

    ``elements(v0)`` is the address of an argument's elements, ``memory(v7)`` that of a new array of NumPy, ``pointer(x)`` an
    address that is a Python int; ``writeable(v0)`` asks NumPy's flag, ``new_words(2)`` makes words in which kernels note what
    is wrong with the data, ``word_at(p)`` reads an int64 of the host's, and ``launch(number, details, (parameters,))`` starts a
    kernel.
    """
    arrays = {"numpy": _numpy, "cupy": _cupy, "torch": _torch}[library](device)
    numpy = library == "numpy"
    if device == "cpu":
        launch = "launch({number}, {work}, {cost}, ({values},))"
        noted = "{made} = new_words({count})\n{made}_pointer = {made}"
        failed = "if {made}[{at}] != {nothing}: raise_found({made}, {number})"
    else:
        from pytocu.runtime import on_cuda

        launch = "launch({number}, {blocks}, {block}, '{early}', ({values},))"
        noted, failed = "failing.check()\n{made}_pointer = pointer(failing.pointer)", ""
        named: dict[str, Any] = {"tiles": on_cuda.tiles, "keep_for_replays": on_cuda.graphs.keep_for_replays}
        if plan.words():
            named["failing"] = words(int(device))
        arrays = arrays._replace(globals={**arrays.globals, **named})
    return Access(
        shape="s{n}",
        pointer="p{n}",
        strides=arrays.strides,
        allocate=arrays.allocate,
        maker=arrays.maker,
        made_pointer="memory({made})" if numpy else f"pointer({arrays.made_pointer})",
        launch=launch,
        # A kernel without work is left to Python.
        idle="idle()",
        scalar=arrays.scalar,
        array="{made}",
        dtype=arrays.dtype,
        globals=arrays.globals,
        given=LIBRARIES[library].given,
        keep="" if device == "cpu" else "keep_for_replays(stream, {made})",
        setup=(
            "p{n} = elements(v{n})" if numpy else f"p{{n}} = pointer({arrays.pointer})",
            *([f"stream = pointer({arrays.stream})"] if device != "cpu" else []),
        ),
        misaligned="if ({pointers}) & {mask}: return NotImplemented",
        writable="if not writeable(v{n}): return NotImplemented" if numpy else arrays.writable,
        shared="return NotImplemented",
        failures=noted,
        failed=failed,
        word="word_at({pointer})",
        bound=True,
    )


class _Arrays(Record):
    pointer: str
    strides: str
    allocate: Mapping[str, str]
    made_pointer: str
    stream: str
    globals: Mapping[str, Any]
    maker: str = ""
    scalar: str = "{made}"
    writable: str = ""
    dtype: Callable[[DType], Any] = lambda element: element.numpy


def _numpy(device: int | str) -> _Arrays:
    return _Arrays(
        pointer="address_at(id(v{n}) + head).value",
        strides="v{n}.strides",
        allocate={
            "C": "{made} = {make}({shape}, {dtype})",
            "F": "{made} = {make}({shape}, {dtype}, 'F')",
            "other": "{made} = {make}({shape}, {dtype}).transpose({axes})",
        },
        maker="{make} = maker({shape}, {dtype})",
        made_pointer="address_at(id({made}) + head).value",
        stream="",
        # NumPy's macros read the address of the elements behind the object's head too; every attribute that has it
        # builds a dictionary or an object first, which takes four times longer.
        globals={"maker": host_memory.maker, "address_at": ctypes.c_size_t.from_address, "head": object.__basicsize__},
        scalar="{made}[()]",
        writable="if not v{n}.flags.writeable: return NotImplemented",
    )


def _cupy(device: int | str) -> _Arrays:
    cupy: Any = sys.modules["cupy"]
    return _Arrays(
        pointer="d{n}.ptr",
        strides="v{n}.strides",
        allocate={
            "C": "{made} = ndarray({shape}, {dtype})",
            "F": "{made} = ndarray({shape}, {dtype}, None, None, 'F')",
            "other": "{made} = ndarray({shape}, {dtype}).transpose({axes})",
        },
        made_pointer="{made}.data.ptr",
        stream="current_stream().ptr",
        globals={"ndarray": cupy.ndarray, "current_stream": cupy.cuda.get_current_stream},
    )


def _torch(device: int | str) -> _Arrays:
    torch: Any = sys.modules["torch"]
    where = torch.device("cpu") if device == "cpu" else torch.device("cuda", device)

    def make_f(shape: tuple[int, ...], dtype: Any) -> Any:
        return torch.empty(shape[::-1], dtype=dtype, device=where).permute(*range(len(shape) - 1, -1, -1))

    made: dict[str, Any] = {"empty": torch.empty, "device": where, "make_f": make_f}
    if device != "cpu":
        # The public way makes a Stream object each time, which takes longer than a launch.
        made |= {"raw_stream": torch._C._cuda_getCurrentRawStream, "ordinal": device}
    return _Arrays(
        pointer="v{n}.data_ptr()",
        strides="tuple([t * {itemsize} for t in v{n}.stride()])",
        allocate={
            "C": "{made} = empty({shape}, dtype={dtype}, device=device)",
            "F": "{made} = make_f({shape}, {dtype})",
            "other": "{made} = empty({shape}, dtype={dtype}, device=device).permute({axes})",
        },
        made_pointer="{made}.data_ptr()",
        stream="raw_stream(ordinal)",
        globals=made,
        dtype=lambda element: getattr(torch, element.numpy.name),
    )
