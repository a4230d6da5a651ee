"""Short ways to the arrays of libraries that are called often.

The generic program reads every argument through a description; these templates read the
library's own attributes, which costs a tenth.  A program answers ``NotImplemented``, before it
has done anything that can be seen, for a call that only the generic one knows how to judge:
misaligned memory, or another context than the kernels'.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pytocu.ir.types import DType
from pytocu.record import Record
from pytocu.runtime import cuda, failures, graphs, threads
from pytocu.runtime.executors import ELEMENTS_PER_THREAD, parameter_codes, slot_layout
from pytocu.runtime.plan import KernelSpec, Plan
from pytocu.runtime.program import Access
from pytocu.runtime.strides import is_c_contiguous


class Library(Record):
    """How the arrays of one library are read, as templates of Python text.

    ``{n}`` is the number of the argument and ``a{n}`` the argument.

    Attributes
    ----------
    judge : str
        True for an array that only the general way can judge; empty where there are none.
    reads : tuple of str
        Lines that make the local names of `given`.
    exact : tuple of str
        What identifies the exact signature, besides the array's class.
    facts : tuple of str
        What identifies the class of sizes: ``ones`` and ``layout`` are functions.
    given : tuple of str
        Local names that the program takes beside the array itself.
    """

    judge: str
    reads: tuple[str, ...]
    exact: tuple[str, ...]
    facts: tuple[str, ...]
    given: tuple[str, ...]


_LENGTHS = ("len(s{n})", "1 in s{n} and ones(s{n})")

LIBRARIES = {
    "numpy": Library(
        judge="",
        reads=("s{n} = a{n}.shape",),
        exact=("a{n}.dtype", "s{n}", "a{n}.strides"),
        facts=("a{n}.dtype", *_LENGTHS, "a{n}.flags.c_contiguous or layout(a{n}.flags)"),
        given=("s{n}",),
    ),
    "cupy": Library(
        judge="",
        reads=("s{n} = a{n}.shape", "d{n} = a{n}.data"),
        exact=("a{n}.dtype", "s{n}", "a{n}.strides", "d{n}.device_id"),
        facts=("a{n}.dtype", *_LENGTHS, "a{n}.flags.c_contiguous or layout(a{n}.flags)", "d{n}.device_id"),
        given=("s{n}", "d{n}"),
    ),
    "torch": Library(
        judge="a{n}.requires_grad or a{n}.layout is not strided or a{n}.is_nested or a{n}.is_neg() or a{n}.is_conj()",
        reads=("s{n} = a{n}.shape", "t{n} = a{n}.stride()"),
        exact=("a{n}.dtype", "s{n}", "t{n}", "a{n}.get_device()"),
        facts=("a{n}.dtype", *_LENGTHS, "a{n}.is_contiguous() or torch_layout(s{n}, t{n})", "a{n}.get_device()"),
        given=("s{n}", "t{n}"),
    ),
}
"""Libraries with a short way, by name."""


def library_of(classes: Sequence[type]) -> str | None:
    """The library whose arrays are among the classes, when it is one that has a short way."""
    found: set[str] = set()
    cupy, torch = sys.modules.get("cupy"), sys.modules.get("torch")
    for one in classes:
        if one is np.ndarray:
            found.add("numpy")
        elif cupy is not None and one is cupy.ndarray:
            found.add("cupy")
        elif torch is not None and one in (torch.Tensor, torch.nn.Parameter):
            found.add("torch")
    return found.pop() if len(found) == 1 else None


def is_array_class(one: type) -> bool:
    """Whether arrays of this class have a short way."""
    return library_of((one,)) is not None


def key_globals(library: str) -> dict[str, Any]:
    """What the templates of a library name."""
    made: dict[str, Any] = {"ones": ones, "layout": layout}
    if library == "torch":
        made |= {"torch_layout": torch_layout, "strided": sys.modules["torch"].strided}
    return made


def ones(shape: Sequence[int]) -> tuple[bool, ...]:
    """Which axes have length 1.

    Examples
    --------
    >>> ones((3, 1))
    (False, True)
    """
    return tuple([n == 1 for n in shape])


def layout(flags: Any) -> str:
    """``F`` or ``S`` (other strides) of an array of NumPy or CuPy that is not row-major, as `plan.layout_of` says it."""
    return "F" if flags.f_contiguous else "S"


def torch_layout(shape: Sequence[int], strides: Sequence[int]) -> str:
    """The same from lengths and strides that count elements."""
    return "F" if is_c_contiguous(shape[::-1], strides[::-1], 1) else "S"


def access_of(
    library: str,
    device: int | str,
    plan: Plan,
    kernels: Callable[[int], Sequence[cuda.Kernel]],
    addresses: Callable[[], Sequence[int]],
    words: Callable[[int], failures.SharedWords],
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
    """
    make = {"numpy": _numpy, "cupy": _cupy, "torch": _torch}[library]
    arrays = make(device)
    launch = _native_launch(plan, addresses()) if device == "cpu" else _cuda_launch(plan, int(device), kernels, words)
    return Access(
        shape="s{n}",
        pointer="p{n}",
        strides=arrays.strides,
        allocate=arrays.allocate,
        made_pointer=arrays.made_pointer,
        launch=launch.text,
        idle=launch.idle,
        scalar=arrays.scalar,
        array="{made}",
        dtype=arrays.dtype,
        globals={**arrays.globals, **launch.globals},
        given=LIBRARIES[library].given,
        keep=launch.keep,
        setup=(
            f"p{{n}} = {arrays.pointer}",
            "if p{n} & {mask}: return NotImplemented",
            *([f"stream = {arrays.stream}"] if device != "cpu" else []),
        ),
        writable=arrays.writable,
        shared="return NotImplemented",
        failures=launch.failures,
        failed=launch.failed,
    )


class _Arrays(Record):
    pointer: str
    strides: str
    allocate: Mapping[str, str]
    made_pointer: str
    stream: str
    globals: Mapping[str, Any]
    scalar: str = "{made}"
    writable: str = ""
    dtype: Callable[[DType], Any] = lambda element: element.numpy


class _Launch(Record):
    text: str
    idle: str
    globals: Mapping[str, Any]
    keep: str = ""
    failures: str = ""
    failed: str = ""


def _numpy(device: int | str) -> _Arrays:
    return _Arrays(
        pointer="address_at(id(v{n}) + head).value",
        strides="v{n}.strides",
        allocate={"C": "{made} = empty({shape}, {dtype})", "F": "{made} = empty({shape}, {dtype}, 'F')"},
        made_pointer="address_at(id({made}) + head).value",
        stream="",
        # NumPy's macros read the address of the elements behind the object's head too; every attribute that has it
        # builds a dictionary or an object first, which takes four times longer.
        globals={"empty": np.empty, "address_at": ctypes.c_size_t.from_address, "head": object.__basicsize__},
        scalar="{made}[()]",
        writable="if not v{n}.flags.writeable: return NotImplemented",
    )


def _cupy(device: int | str) -> _Arrays:
    cupy: Any = sys.modules["cupy"]
    return _Arrays(
        pointer="d{n}.ptr",
        strides="v{n}.strides",
        allocate={"C": "{made} = ndarray({shape}, {dtype})", "F": "{made} = ndarray({shape}, {dtype}, None, None, 'F')"},
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
        strides="tuple([t * {itemsize} for t in t{n}])",
        allocate={
            "C": "{made} = empty({shape}, dtype={dtype}, device=device)",
            "F": "{made} = make_f({shape}, {dtype})",
        },
        made_pointer="{made}.data_ptr()",
        stream="raw_stream(ordinal)",
        globals=made,
        dtype=lambda element: getattr(torch, element.numpy.name),
    )


def _cuda_launch(
    plan: Plan,
    device: int,
    kernels_on: Callable[[int], Sequence[cuda.Kernel]],
    words: Callable[[int], failures.SharedWords],
) -> _Launch:
    driver = cuda.bindings()
    specs, kernels = plan.kernels, kernels_on(device)
    names: dict[str, Any] = {
        "launch_ex": driver.launch_ex,
        "thread_parameters": cuda.thread_parameters,
        "launch_failed": cuda.launch_failed,
        "is_foreign": cuda.is_foreign_context,
        "keep_for_replays": graphs.keep_for_replays,
        "kernels": tuple(kernels),
        "handles": tuple(k.handle for k in kernels),
        "codes": tuple(parameter_codes(s.parameters, s.index_bits) for s in specs),
    }
    # The context is not asked for at every call: a launch in another one fails, and nothing has happened then.
    text = (
        "parameters = thread_parameters(codes[{number}])\n"
        "blocks = ({work} + {block} - 1) // {block}\n"
        "if blocks > 2147483647: blocks = 2147483647\n"
        "parameters.pack_launch(blocks, 1, 1, {block}, 1, 1, 0, stream, 0, 0, {values},)\n"
        "status = launch_ex(parameters.configuration, handles[{number}], parameters.address, 0)\n"
        "if status:\n"
        "    if is_foreign(kernels[{number}]): return NotImplemented\n"
        "    launch_failed(kernels[{number}], status, blocks, {block})"
    )
    noted = ""
    if plan.words():
        names["failing"] = words(device)
        noted = "failing.check()\n{made}_pointer = failing.pointer"
    idle = "if is_foreign(kernels[{number}]): return NotImplemented"
    return _Launch(text, idle, names, "keep_for_replays(stream, {made})", noted)


def _native_launch(plan: Plan, addresses: Sequence[int]) -> _Launch:
    specs = plan.kernels
    names: dict[str, Any] = {
        "addressof": ctypes.addressof,
        "run_threads": threads.run,
        "natives": tuple(threads.native(a) for a in addresses),
        "addresses": tuple(addresses),
        "packs": tuple(_packer(s) for s in specs),
        "enough": ELEMENTS_PER_THREAD,
        "new_words": failures.new_words,
    }
    text = (
        "slots = packs[{number}]({values},)\n"
        "if {work} * {cost} < enough: natives[{number}](slots, 0, {work})\n"
        "else: run_threads(addresses[{number}], addressof(slots), {work}, max(enough // {cost}, 1))"
    )
    noted = "{made} = new_words({count})\n{made}_pointer = addressof({made})"
    return _Launch(text, "", names, "", noted, "if {made}[{at}] != {nothing}: raise_found({made}, {number})")


def _packer(spec: KernelSpec) -> Callable[..., Any]:
    """A function from parameter values to the address of their slots.

    The slots are new at each call: the native function runs without Python's lock, and another
    thread may call the same function meanwhile.
    """
    slots = slot_layout(spec.parameters)
    size = max(slots.size, 8)
    make = ctypes.c_char * size

    def pack(*values: Any) -> Any:
        made = make()
        slots.pack_into(made, 0, *values)
        return made

    return pack
