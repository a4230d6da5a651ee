"""Loop-level functions to LLVM IR text for the CPU.

In: functions whose rows are all primitives.  Out: one module as text.  Every function becomes
two: an internal one that takes the parameters themselves, and the exported kernel
``void name(ptr slots, i64 begin, i64 end)``, which reads them from 8-byte slots.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pytocu.backend import guards
from pytocu.backend.llvm_dialect import CPU, X86_64, Dialect, host_dialect, kind_of, symbol
from pytocu.backend.llvm_writer import Writer
from pytocu.errors import InternalError
from pytocu.ir.core import Block, Function, Inst, Value, walk, written_pointers
from pytocu.ir.types import IndexType, PointerType

__all__ = ["CPU", "X86_64", "Dialect", "emit", "host_dialect"]


def _is_seen_by_others(inst: Inst) -> bool:
    """Whether an instruction writes memory that is not the thread's own."""
    target = inst.args[0].type if inst.op.name == "store" else None
    return inst.op.effects == "write" and not (isinstance(target, PointerType) and target.space == "local")


def _check_share(function: Function) -> None:
    """Several threads run the function, each a share of its one parallel loop."""
    top = function.body.insts
    parallel = [i for i in walk(function.body) if i.op.name == "for" and i.attr("over") == "parallel"]
    if not parallel:
        return
    if len(parallel) > 1 or parallel[0] not in top:
        raise InternalError(f"{function.name}: a kernel has one parallel loop, at its top level")
    for inst in top:
        if inst is not parallel[0] and any(map(_is_seen_by_others, walk(Block((), (inst,))))):
            raise InternalError(f"{function.name}: a store beside the parallel loop would run once a thread")


def _slot(writer: Writer, param: Value, number: int) -> str:
    """Read a parameter from its slot; the operand with its type."""
    dialect = writer.dialect
    slots = dialect.pointer.format(type="i64", space="")
    at = dialect.element.format(type="i64", pointer=slots, address="%slots", index_type="i64", index=number)
    at = writer.assign(at, "at")
    memory = "i64" if isinstance(param.type, IndexType) else writer.type(param.type, memory=True)
    pointer = dialect.pointer.format(type=memory, space="")
    if pointer != slots:
        at = writer.assign(f"bitcast {slots} {at} to {pointer}", "at")
    name = writer.assign(dialect.load.format(type=memory, pointer=pointer, address=at, align=8), param.name or "v")
    if isinstance(param.type, IndexType) and writer.index_bits < 64:
        name = writer.assign(f"trunc i64 {name} to i{writer.index_bits}", "v")
    return f"{writer.type(param.type)} {writer.from_memory(name, param.type) if kind_of(param.type) == 'b' else name}"


def _function(
    function: Function, dialect: Dialect, declarations: set[str], marks: Callable[[Inst], str] | None
) -> str:
    if function.level != "loop":
        raise InternalError(f"{function.name} is at {function.level} level, not at loop level")
    _check_share(function)
    written = written_pointers(function.body)
    work = Writer(function, dialect, declarations)
    work.origins = None if marks is None else {}
    params: list[str] = []
    for param in function.params:
        name = work.fresh(param.name or "v")
        work.values[param] = name
        # Arguments do not overlap unless nothing is written, so loops need no run-time checks.
        attributes = ""
        if isinstance(param.type, PointerType):
            attributes = "noalias " if param in written else "noalias readonly "
        params.append(f"{work.type(param.type)} {attributes}{name}")
    params += ["i64 %range.begin", "i64 %range.end"]
    for inst in function.body.insts[:-1]:
        work.inst(inst)
    work.finish()
    last = function.body.terminator
    if last.op.name != "return" or last.args:
        raise InternalError(f"{function.name}: a kernel ends with a return of nothing")
    inner = symbol(f"{function.name}.share")
    outer = Writer(function, dialect, declarations)
    outer.taken.update(dict.fromkeys(("slots", "begin", "end"), 1))
    for text in dialect.enter:
        outer.line(text)
    arguments = [_slot(outer, param, number) for number, param in enumerate(function.params)]
    arguments += ["i64 %begin", "i64 %end"]
    outer.line(f"call void {inner}({', '.join(arguments)})")
    for text in dialect.leave:
        outer.line(text)
    declarations.update(dialect.declarations)
    slots = dialect.pointer.format(type="i64", space="")
    head = f"define internal void {inner}({', '.join(params)}) {dialect.local} {{"
    kernel = f"define void {symbol(function.name)}({slots} %slots, i64 %begin, i64 %end) {dialect.kernel} {{"
    body = ["entry:", *work.first_block, *work.marked(marks), "  ret void", "}"]
    parts = [head, *body, "", kernel, "entry:", *outer.lines, "  ret void", "}"]
    return "\n".join(parts)


def emit(
    functions: Sequence[Function], dialect: Dialect | None = None, marks: Callable[[Inst], str] | None = None
) -> str:
    """LLVM IR of loop-level functions, as one module.

    Parameters
    ----------
    functions : sequence of Function
        At loop level, in the CPU's form: one loop over ``parallel`` at most.  Names differ.
    dialect : Dialect, optional
        This machine's by default.
    marks : callable, optional
        End each line with a comment: what this says of the instruction that the line is of.

    Returns
    -------
    str
        Each function is exported as ``void name(ptr slots, i64 begin, i64 end)``: slots of
        8 bytes hold the parameters in order (a pointer, a scalar at the start of its slot, an
        index as int64) and iterations ``begin`` to ``end`` of the parallel loop are run.

    Raises
    ------
    BackendError
        A dtype or an instruction has no form on the CPU.

    Examples
    --------
    >>> from pytocu.ir.parser import parse_function
    >>> text = "loop func @nothing(%n: index) {\\n  return\\n}"
    >>> "define void @nothing(ptr %slots, i64 %begin, i64 %end)" in emit([parse_function(text)])
    True
    """
    dialect = dialect or host_dialect()
    declarations: set[str] = set()
    bodies = [_function(function, dialect, declarations, marks) for function in functions]
    kept = guards.keep(declarations)
    parts = bodies + (["\n".join([*sorted(declarations), *([kept] if kept else [])])] if declarations else [])
    return "\n\n".join(parts) + "\n"
