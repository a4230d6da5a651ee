"""Where a plan's kernels run: native functions on the CPU's threads."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from pytocu.deferred import DeferredModule
from pytocu.ir.types import DType, dtype_named
from pytocu.runtime import cuda, failures, host_memory, native, results, threads
from pytocu.runtime.arrays import ArrayInfo
from pytocu.runtime.host_loops import Steps, Until
from pytocu.runtime.plan import Plan
from pytocu.runtime.plan_loops import steady
from pytocu.runtime.strides import laid_out
from pytocu.runtime.templates import Launch

loop_part = DeferredModule("pytocu.runtime.native_steps")
"""The module of native loops, loaded for plans that have some."""
host_steps = DeferredModule("pytocu.runtime.host_steps")
"""The module of what is done between kernels, loaded for plans that have such steps."""

ELEMENTS_PER_THREAD = 1 << 16
"""Fewer elements than this are no piece of their own; see `threads.run`."""

MOST_ALONE = 2 * ELEMENTS_PER_THREAD
"""Up to so many elements one thread does everything: of two pieces nobody is left to help with once the first one was timed."""

MOST_NATIVE = 16 * MOST_ALONE
"""The same in calls of native code where there is one thread.

Behind a launch that has filled the caches Python takes about 8 us to start another one. Of longer launches that is less
than a hundredth, and an interrupt waits for all of a call.
"""


def load(plan: Plan, code: Callable[[str], bytes]) -> tuple[int, ...]:
    """The native functions of a plan, and behind them the one that makes the steps of loops, if it has some.

    `code` gives this machine's object code for ``""``.
    """
    names = [spec.name for spec in plan.kernels]
    if not names:
        return ()
    if steady(plan, False):
        names.append(loop_part().NAME)
    loaded = native.load(code(""), names)
    return tuple(loaded[n] for n in names)


def loops_of(plan: Plan, addresses: Sequence[int]) -> dict[int, Any]:
    """The loops whose steps are native (`native_steps.NativeLoop`), by their positions in the plan."""
    found = steady(plan, False)
    if not found:
        return {}
    make, natives = loop_part().NativeLoop, [threads.native(address) for address in addresses]
    return {position: make(loop, plan.kernels, natives, natives[-1]) for position, loop in found.items()}


class CpuExecutor:
    """Runs native functions on arrays in the host's memory.

    Parameters
    ----------
    plan : Plan
    addresses : sequence of int
        What :func:`load` gave.
    loops : mapping
        What :func:`loops_of` made of them.
    like : ArrayInfo or None
        Whose library results belong to; None for NumPy.
    """

    waits = True

    def __init__(self, plan: Plan, addresses: Sequence[int], loops: Mapping[int, Any], like: ArrayInfo | None):
        self.plan = plan
        self.specs = plan.kernels
        self.addresses = addresses
        self.loops = loops
        self.like = like if like is not None and like.library != "numpy" else None

    def allocate(self, shape: tuple[int, ...], dtype: DType, layout: str) -> tuple[Any, int]:
        """A new array of the caller's library."""
        if self.like is not None:
            return results.allocate(self.like, shape, dtype, layout)
        if layout in ("C", "F"):
            made = host_memory.maker(shape, dtype.numpy)(shape, dtype.numpy, layout)
            return made, made.ctypes.data
        laid, axes = laid_out(shape, layout)
        made = host_memory.maker(laid, dtype.numpy)(laid, dtype.numpy)
        return made.transpose(axes), made.ctypes.data

    def launch(self, number: int, values: Sequence[Any], work: int, cost: int, grid: Sequence[int] = ()) -> None:
        """Run the native function on the thread pool; returns when it is done."""
        spec = self.specs[number]
        slots = slot_layout(spec.parameters)
        packed = ctypes.create_string_buffer(slots.pack(*values), max(slots.size, 8))
        minimum = max(ELEMENTS_PER_THREAD // max(cost, 1), 1)
        threads.run(self.addresses[number], ctypes.addressof(packed), work, minimum)

    def steps(self, loop: int, numbers: range, alone: bool) -> Steps:
        """The steps of a loop whose launches repeat."""
        return self.loops[loop].steps(numbers, alone)

    def until(self, loop: int) -> Until:
        """The steps of a loop that ends when a truth value in memory says so."""
        return self.loops[loop].until()

    def note(self, number: int, values: Sequence[Any], work: int, cost: int, grid: Sequence[int] = ()) -> Any:
        """A launch as `native_steps` takes it."""
        slots = slot_layout(self.specs[number].parameters)
        return number, ctypes.create_string_buffer(slots.pack(*values), max(slots.size, 8)), work, cost

    def failures(self, count: int) -> tuple[Any, int]:
        """Words of this call, and their address."""
        words = failures.new_words(count)
        return words, ctypes.addressof(words)

    def word(self, pointer: int) -> int:
        """An int64 that a kernel has written."""
        return host_steps().read_host_word(pointer)

    def library(self, name: str, arrays: Sequence[Any], options: Any, planned: Any) -> tuple[Any, ...]:
        """The results of a function of the caller's library, and their addresses."""
        library = "numpy" if self.like is None else self.like.library
        made = host_steps().call_library(library, name, arrays, options, planned)
        return (*made, *(m.data_ptr() if library == "torch" else m.ctypes.data for m in made))

    def keep(self, temporaries: tuple[Any, ...]) -> None:
        """Nothing uses them any more."""

    def scalar(self, array: Any) -> Any:
        """NumPy gets a NumPy scalar; other libraries an array without axes."""
        return array[()] if self.like is None else results.finish(self.like, array)

    def array(self, array: Any) -> Any:
        """The array itself."""
        return array if self.like is None else results.finish(self.like, array)


@lru_cache(maxsize=1024)
def slot_layout(parameters: tuple[str, ...]) -> struct.Struct:
    """The layout of the parameters in slots of 8 bytes."""
    codes: list[str] = []
    for word in parameters:
        code = {"pointer": "Q", "index": "q"}.get(word) or cuda.PARAMETER_CODES[dtype_named(word)]
        size = struct.calcsize(f"={code}")
        codes.append(f"{code}{8 - size}x" if size < 8 else code)
    return struct.Struct("=" + "".join(codes))


def launch_of(plan: Plan, load: Callable[[], Sequence[int]]) -> Launch:
    """How a program calls native functions."""
    specs = plan.kernels
    names: dict[str, Any] = {
        "addressof": ctypes.addressof,
        "run_threads": threads.spread,
        # New ones for each call: native functions run without Python's lock, and other threads may call them meanwhile.
        "packs": tuple(slot_layout(s.parameters).pack for s in specs),
        "slots_of": threads.address_of,
        "enough": ELEMENTS_PER_THREAD,
        "most_alone": MOST_ALONE,
        "new_words": failures.new_words,
    }

    def loaded() -> dict[str, Any]:
        addresses = tuple(load())
        natives = tuple(threads.native(a) for a in addresses)
        return {"natives": natives, "loops": loops_of(plan, addresses)}

    text = (
        "slots = packs[{number}]({values},)\n"
        "if {work} * {cost} <= most_alone: natives[{number}](slots, 0, {work})\n"
        "else: run_threads(natives[{number}], slots_of(slots), {work}, max(enough // {cost}, 1))"
    )
    noted = "{made} = new_words({count})\n{made}_pointer = addressof({made})"
    failed = "if {made}[{at}] != {nothing}: raise_found({made}, {number})"
    steps, note = "loops[{loop}].steps({numbers}, {alone})", "{steps}.note(({number}, slots, {work}, {cost}))"
    until, note_flag = "loops[{loop}].until()", "{steps}.note((-1, {pointer}, 0, 0))"
    return Launch(text, "", names, "", noted, failed, steps, note, until, note_flag, True, loaded)
