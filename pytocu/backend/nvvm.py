"""Loop-level functions to NVVM IR, and NVVM IR to a cubin through libNVVM and nvJitLink.

In: functions in the form for a GPU, primitives only.  Out: one module as text with one kernel a
function, and from it PTX and a cubin.

libNVVM turns the text into the intermediate form for optimisation at link time, and nvJitLink
generates the code: PTX that it is given it assembles as code to be linked with other code,
which takes up to a half more registers, and as much time.

The text is written for the older of the two LLVMs in libNVVM (typed pointers), which both of
them read: one text serves every architecture.  Kernels that are straight enough are compiled
as they are written, which takes less time: nothing is left in them for an optimiser.
Needs no GPU, no driver, no header and no CUDA toolkit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from pytocu.backend import archs
from pytocu.backend.libraries import LibraryError, library, place_of, text_of, texts
from pytocu.backend.llvm_debug import Places
from pytocu.backend.llvm_dialect import NVVM, NVVM_AS_WRITTEN, kind_of
from pytocu.backend.names import kernel_names
from pytocu.backend.nvvm_writer import VectorWriter
from pytocu.backend.ptx import LLVM_WAIT, for_arch
from pytocu.errors import UNKNOWN, BackendError, InternalError
from pytocu.ir.core import Function, Inst, walk, written_pointers
from pytocu.ir.types import PointerType, element
from pytocu.processes import RLock, innermost

# libNVVM ends the process on a module without a layout.
_LAYOUT = (
    "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64"
    "-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
)
_HEAD = f'target datalayout = "{_LAYOUT}"\ntarget triple = "nvptx64-nvidia-cuda"'
_EXTERNAL = r"\.extern\s+\.func\s+(?:\([^)]*\)\s*)?([\w$.]+)"
_IR_VERSION = "!{i32 2, i32 0}"
_STRAIGHT = "; straight\n"
"""What a module begins with that is compiled as it is written; see :func:`_is_straight`."""

_OF_POSITIONS = r" = (?:getelementptr|bitcast|ptrtoint|zext|sext|trunc|icmp|add|sub|mul|shl|lshr|ashr|and|or|xor) "
"""Instructions of addresses and positions, which have no place in straight text: equal ones of different lines would otherwise
not be joined without the optimiser, and the code would be another one."""

_NEWER_LLVM = 100
"""The first architecture for which libNVVM has the newer of its two LLVMs."""

_LTO_IR = 3
"""What nvJitLink calls the intermediate form among its kinds of input."""


def emit(functions: Sequence[Function], lineinfo: bool = False, marks: Callable[[Inst], str] | None = None) -> str:
    """NVVM IR of loop-level functions, as one module.

    Parameters
    ----------
    functions : sequence of Function
        At loop level in the form for a GPU, primitives only.
    lineinfo : bool
        Write behind each instruction the place in the Python source, so that profilers show it.
    marks : callable, optional
        End each line with a comment: what this says of the instruction that the line is of.

    Returns
    -------
    str
        Text for every architecture; the kernels take the functions' parameters and are called
        as :func:`pytocu.backend.names.kernel_names` says.

    Raises
    ------
    BackendError
        A dtype or an instruction has no form on a GPU.

    Examples
    --------
    >>> from pytocu.ir.parser import parse_function
    >>> text = "loop func @nothing(%x: ptr f32, %n: index) facts {index_bits = 32} {\\n  return\\n}"
    >>> "define void @nothing(float addrspace(1)* noalias readonly %x, i32 %n)" in emit([parse_function(text)])
    True
    """
    declarations: set[str] = set()
    bodies: list[str] = []
    notes: list[str] = []
    kernels: list[str] = []
    places = Places() if lineinfo else None
    straight = all(map(_is_straight, functions))
    for function, name in zip(functions, kernel_names(functions), strict=True):
        writer = VectorWriter(function, NVVM_AS_WRITTEN if straight else NVVM, declarations, name)
        text, signature = _kernel(writer, name, marks, places)
        bodies.append(text)
        notes.append(f'!{{{signature}* @{name}, !"kernel", i32 1}}')
        block = function.fact("block")
        if isinstance(block, int):
            bounds = f'!"maxntidx", i32 {block}'
            if isinstance(resident := function.fact("resident"), int):
                bounds += f', !"minctasm", i32 {resident // block}'
            notes.append(f"!{{{signature}* @{name}, {bounds}}}")
        kernels.append(f"i8* bitcast ({signature}* @{name} to i8*)")
    numbers = [f"!{number}" for number in range(len(notes) + 1)]
    metadata = [f"!nvvm.annotations = !{{{', '.join(numbers[:-1])}}}", f"!nvvmir.version = !{{{numbers[-1]}}}"]
    metadata += [f"{number} = {note}" for number, note in zip(numbers, [*notes, _IR_VERSION], strict=True)]
    metadata += places.metadata() if places else []
    # What nobody calls is left out when linked, unless it is said to be used.
    used = f"@llvm.used = appending global [{len(kernels)} x i8*] [{', '.join(kernels)}], section \"llvm.metadata\""
    parts = [_HEAD, *bodies, "\n".join(sorted(declarations)), used if kernels else "", "\n".join(metadata)]
    return (_STRAIGHT if straight else "") + "\n\n".join(part for part in parts if part) + "\n"


def _is_straight(function: Function) -> bool:
    """Whether LLVM's optimiser gains nothing on a kernel.

    Threads that exchange what they have of a row of float32 or float64, or have several rows at once, go round in loops that
    are written as they are to be.  Of truth values and narrow integers LLVM makes up to a half fewer instructions.  Others
    are in no loop but those over the grid, share no memory, and have no function of libdevice, which LLVM would adapt to its
    place.  None converts float16, where LLVM keeps fewer registers in use.
    """
    insts = list(walk(function.body))
    if any(inst.op.name in ("half_to_float", "float_to_half") for inst in insts):
        return False
    if function.fact("several"):
        return True
    if exchanged := [kind_of(inst.result.type) for inst in insts if inst.op.name == "shuffle_xor"]:
        read = (element(i.args[0].type).kind for i in insts if i.op.name == "load" and i.args[0] in function.params)
        return "b" not in exchanged and all(kind == "f" for kind in read)
    for inst in insts:
        match inst.op.name:
            case "shared" | "barrier" | "while":
                return False
            case "for" if inst.attr("over", "serial") == "serial":
                return False
        if inst.op.kind == "elementwise" and inst.op.llvm in ("", "guarded"):
            return False
    return True


def _kernel(
    writer: VectorWriter, name: str, marks: Callable[[Inst], str] | None, places: Places | None
) -> tuple[str, str]:
    """The text of a kernel, and its type."""
    function = writer.function
    if function.level != "loop":
        raise InternalError(f"{function.name} is at {function.level} level, not at loop level")
    written = written_pointers(function.body)
    writer.origins = None if marks is None and places is None else {}
    params: list[str] = []
    types: list[str] = []
    for param in function.params:
        type, attributes = writer.type(param.type, memory=True), ""
        given = writer.fresh(param.name or "v")
        # Arguments do not overlap unless nothing is written; what is only read may be cached, but not
        # what a kernel of before still writes.
        if isinstance(param.type, PointerType):
            reads = "readonly " if function.fact("waits") else "noalias readonly "
            attributes = "noalias " if param in written else reads
            writer.values[param] = given
        else:
            writer.values[param] = writer.from_memory(given, param.type) if kind_of(param.type) == "b" else given
        types.append(type)
        params.append(f"{type} {attributes}{given}")
    # The other architectures have no such instructions: see `ptx`.
    writer.lines.extend(LLVM_WAIT if function.fact("waits") else LLVM_WAIT[:1] if function.fact("followed") else ())
    for inst in function.body.insts[:-1]:
        writer.inst(inst)
    writer.finish()
    last = function.body.terminator
    if last.op.name != "return" or last.args:
        raise InternalError(f"{function.name}: a kernel ends with a return of nothing")
    head = f"define void @{name}({', '.join(params)}) {NVVM.kernel}"
    lines = [*writer.marked(marks), "  ret void"]
    if places is not None:
        loc = next((i.loc for i in walk(function.body) if i.loc.line), UNKNOWN)
        head += places.begin(function.name, loc)
        for number, line in enumerate(lines):
            inst = (writer.origins or {}).get(number)
            loc = inst.loc if inst is not None and inst.loc.line else loc
            # Labels have no place; instructions begin with spaces.
            placed = line.startswith("  ") and not (writer.dialect.as_written and re.search(_OF_POSITIONS, line))
            lines[number] = line + places.of(loc) if placed else line
    return "\n".join([f"{head} {{", "entry:", *lines, "}"]), f"void ({', '.join(types)})"


# The libraries.


@lru_cache(maxsize=1)
def version() -> tuple[int, ...]:
    """Versions of nvJitLink and of the IR that libNVVM reads, as ``(13, 5, 2, 0, 3, 2)``.

    Raises
    ------
    BackendError
        A library is not installed.
    """
    return (*library("nvJitLink")("Version"), *library("nvvm")("IRVersion"))


@lru_cache(maxsize=1)
def supported_archs() -> tuple[str, ...]:
    """The architectures this libNVVM has code for, as ``("sm_75", ..., "sm_121")``.

    Raises
    ------
    BackendError
        A library is not installed.
    """
    return tuple(arch for arch in (f"sm_{number}" for number in range(50, 200)) if _takes(arch))


@lru_cache(maxsize=256)
def _takes(arch: str) -> bool:
    """Whether libNVVM has code for an architecture, which older ones tell in no other way."""
    nvvm = library("nvvm")
    module = emit([]).encode()
    program = nvvm("CreateProgram")
    try:
        nvvm("AddModuleToProgram", program, module, len(module), b"empty")
        nvvm("VerifyProgram", program, 1, texts([arch.replace("sm_", "-arch=compute_")]))
    except LibraryError:
        return False
    finally:
        nvvm("DestroyProgram", program)
    return True


def check_arch(arch: str) -> str:
    """The architecture, when libNVVM compiles for it.

    Parameters
    ----------
    arch : str
        ``sm_90``; a letter ``a`` or ``f`` behind it asks for features of that model or family.

    Raises
    ------
    BackendError
        With the known architectures.
    """
    if archs.ARCH.fullmatch(arch) and _takes(arch):
        return arch
    compiler = f"libNVVM of CUDA {'.'.join(map(str, version()[:2]))}"
    archs.check(arch, supported_archs(), compiler)
    raise BackendError(f"{compiler} has no code for {arch}: it has for {arch[:-1]}, without the letter")


def options_for(arch: str, lineinfo: bool = False) -> tuple[str, ...]:
    """The options of libNVVM for a kernel, which nvJitLink takes too but the first; part of what identifies a binary."""
    return (f"-arch={arch.replace('sm_', 'compute_')}", *_EXACT, *(["-generate-line-info"] if lineinfo else []))


_EXACT = ("-fma=0", "-ftz=0", "-prec-div=1", "-prec-sqrt=1")
"""Arithmetic as written."""


@lru_cache(maxsize=1)
def _device_library() -> bytes:
    """libdevice, the math functions ``__nv_*`` as bitcode."""
    with open(place_of("libdevice"), "rb") as file:
        return file.read()


def ptx(source: str, arch: str, name: str, lineinfo: bool = False, options: Sequence[str] = ()) -> str:
    """The PTX that the cubin is assembled from; parameters and errors as :func:`build`."""
    made = _ptx(_compiled(source, arch, name, lineinfo, options), arch, name, lineinfo, _level(source, arch))
    unknown = sorted(set(re.findall(_EXTERNAL, made))) if ".extern" in made else []
    if unknown:
        raise BackendError(f"{name} calls what neither libNVVM nor libdevice has for {arch}: {', '.join(unknown)}")
    return made


def build(source: str, arch: str, name: str, lineinfo: bool = False, options: Sequence[str] = ()) -> bytes:
    """Compile a module to a cubin.

    Parameters
    ----------
    source : str
        As :func:`emit` writes it.
    arch : str
        ``sm_90``.
    name : str
        What libNVVM calls the module in its messages.
    lineinfo : bool
        Keep the places that :func:`emit` writes, for profilers.
    options : sequence of str
        More options of libNVVM.

    Returns
    -------
    bytes
        An ELF file with the kernels.

    Raises
    ------
    BackendError
        A library is missing, the architecture is unknown, the text is refused (which is a
        defect of pytocu and shown with the text), or it calls functions nobody defines.
    """
    return begin(source, arch, name, lineinfo, options)()


def begin(source: str, arch: str, name: str, lineinfo: bool = False, options: Sequence[str] = ()) -> Callable[[], bytes]:
    """The short part of :func:`build`; what is returned does the rest, in any thread.  Parameters and errors as there."""
    module = _compiled(source, arch, name, lineinfo, options)

    def rest() -> bytes:
        try:
            return _linked(module, arch, name, lineinfo, _level(source, arch), ("GetLinkedCubinSize", "GetLinkedCubin"))
        except BackendError:
            # The PTX says which functions are missing, if that is what is wrong.
            ptx(source, arch, name, lineinfo, options)
            raise

    return rest


def _level(source: str, arch: str) -> tuple[str, ...]:
    """The option for straight code, for which the optimiser would do nothing but take time.

    On architectures of libNVVM's newer LLVM, which nothing was measured on, it optimises as ever.
    """
    number = archs.ARCH.match(arch)
    older = number is not None and int(number[1]) < _NEWER_LLVM
    return ("-Xnvvm=-opt=0",) if older and source.startswith(_STRAIGHT) else ()


def _compiled(source: str, arch: str, name: str, lineinfo: bool, options: Sequence[str]) -> bytes:
    """The intermediate form of a module."""
    nvvm = library("nvvm")
    if not archs.ARCH.fullmatch(arch):
        check_arch(arch)
    if "target datalayout" not in source:
        raise InternalError(f"{name}: a module for libNVVM states its data layout")
    chosen = [*options_for(arch, lineinfo), *options]
    if lineinfo:
        # Modules with debug metadata state the version of that, too.
        versions = ", ".join(f"i32 {number}" for number in version()[-4:])
        source = source.replace(_IR_VERSION, f"!{{{versions}}}")
    number = archs.ARCH.match(arch)
    if number:
        source = for_arch(source, int(number[1]))
    text = source.encode()
    program = nvvm("CreateProgram")
    try:
        nvvm("AddModuleToProgram", program, text, len(text), name.encode())
        # What this finds are defects of the writer, some of which would end the process in nvJitLink.
        nvvm("VerifyProgram", program, len(chosen), texts(chosen))
        if "@__nv_" in source:
            # Lazily: only what is called is read, which is 2 ms instead of 100.
            functions = _device_library()
            nvvm("LazyAddModuleToProgram", program, functions, len(functions), b"libdevice")
        chosen.append("-gen-lto")
        nvvm("CompileProgram", program, len(chosen), texts(chosen))
        return nvvm.content("GetCompiledResultSize", "GetCompiledResult", program)
    except LibraryError as error:
        # Asked only now, because the question takes as long as a small kernel.
        check_arch(arch)
        said = nvvm.log("ProgramLog", program)
        raise BackendError(
            f"libNVVM refused {name} for {arch} ({error}), which is a defect of pytocu:\n{said}\n{_excerpt(source, said)}"
        ) from None
    finally:
        nvvm("DestroyProgram", program)


# NVIDIA states that libNVVM may be called by many threads at once; of nvJitLink it does not.
_link_lock = innermost(RLock())


def _linked(
    module: bytes, arch: str, name: str, lineinfo: bool, options: Sequence[str], result: tuple[str, str]
) -> bytes:
    """What nvJitLink makes of the intermediate form of a module."""
    linker = library("nvJitLink")
    chosen = (f"-arch={arch}", "-lto", *_EXACT, *(["-lineinfo"] if lineinfo else []), *options)
    with _link_lock:
        handle = linker("Create", len(chosen), texts(chosen))
        try:
            linker("AddData", handle, _LTO_IR, module, len(module), name.encode())
            linker("Complete", handle)
            return linker.content(*result, handle)
        except LibraryError as error:
            said = linker.log("ErrorLog", handle)
            raise BackendError(f"nvJitLink refused {name} for {arch} ({error}), which is a defect of pytocu:\n{said}") from None
        finally:
            linker("Destroy", handle)


def _ptx(module: bytes, arch: str, name: str, lineinfo: bool, options: Sequence[str]) -> str:
    return text_of(_linked(module, arch, name, lineinfo, ("-ptx", *options), ("GetLinkedPtxSize", "GetLinkedPtx")))


def _excerpt(source: str, log: str) -> str:
    """The numbered lines around the first place that the log names, or all of a short text."""
    lines = list(enumerate(source.splitlines(), 1))
    place = re.search(r"\((\d+), \d+\)", log)
    middle = int(place[1]) if place else 1
    return "\n".join(f"{n:4} | {line}" for n, line in lines[max(0, middle - 20) : middle + 20])
