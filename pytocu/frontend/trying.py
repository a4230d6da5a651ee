"""``try`` statements: which clause a program takes is known while it is read, or where a ``raise`` under a branch stands.

An exception that NumPy or Python raises for these types, in the statements of a ``try`` or in a function that they call, goes
to the clause that catches its class: what was read before it stays read. A ``raise`` in these statements is like a branch that
leaves them: the clause, and what follows the ``try``, are read as part of the side that it stands on. Whether lengths of
arguments fit together is decided for the call, as ranks and dtypes are: the code states that they do, or that they do not.

What is left may be raised by a run, as an index that data state. Where a clause here would catch that, the ``try`` is refused;
an exception that nobody here catches is the run's.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from pytocu.errors import CompileError, Loc, PytocuError, ShapeError, UnsupportedError, failure, raised
from pytocu.frontend.expressions import evaluate
from pytocu.frontend.frames import Flow, Frame, Raised, Unset, flow_of
from pytocu.frontend.raising import as_raised, is_raised, is_refusal
from pytocu.frontend.statements import run_block
from pytocu.frontend.values import Context
from pytocu.ir import regions
from pytocu.ir.core import Block, Function, Inst, named, walk
from pytocu.ir.dims import Fact, fact_of, symbols
from pytocu.ir.interp_arguments import State as Lengths
from pytocu.ir.interp_checks import check
from pytocu.ir.types import WEAK_BOOL, WEAK_INT, ArrayType, WeakType, element
from pytocu.record import Mutable

_LOOPS = (ast.For, ast.While)
_HELP = "ask for it before, with if, or catch the error around the call of the compiled function"
_OF_LIBRARIES = {
    "linalg.solve": "if np.linalg.slogdet(a)[0] != 0: x = np.linalg.solve(a, b)",
    "linalg.inv": "if np.linalg.slogdet(a)[0] != 0: x = np.linalg.inv(a)",
    "linalg.cholesky": "if np.linalg.eigvalsh(a)[0] > 0: l = np.linalg.cholesky(a)",
}
"""By the function that raises: how to ask for it before."""


class Trying(Mutable):
    """A ``try`` that is being read.

    Attributes
    ----------
    frame : Frame
    node : ast.Try
    rest : tuple of ast.stmt
        What follows it, as :func:`pytocu.frontend.statements.run_block` has it.
    depth : int
        How many regions it stands in.
    """

    __pytocu_plain__ = True

    frame: Frame
    node: ast.Try
    rest: tuple[ast.stmt, ...]
    depth: int

    def holds(self, loc: Loc | None, *parts: Sequence[ast.stmt]) -> bool:
        """Whether a place is in one of these parts of the statement, or in a function that is called there."""
        frame = self.frame
        for one in loc.chain() if loc is not None else ():
            if (one.file, one.function, one.caller) == (frame.file, frame.name, frame.caller):
                return any(_is_in((one.line, one.column), part) for part in parts)
        return False

    @property
    def parts(self) -> tuple[list[ast.stmt], ...]:
        """All that the ``finally`` clause follows."""
        return (self.node.body, *(handler.body for handler in self.node.handlers), self.node.orelse)

    def clause(self, error: BaseException) -> ast.ExceptHandler | None:
        """The clause that catches an exception."""
        for handler in self.node.handlers:
            if handler.type is None or any(issubclass(type(error), kind) for kind in self._kinds(handler.type)):
                return handler
        return None

    def _kinds(self, node: ast.expr) -> list[type[BaseException]]:
        """The classes of an ``except`` clause; those of pytocu are none of the program's."""
        context = self.frame.context
        with context.builder.at(self.frame.loc(node)):
            value = evaluate(self.frame, node)
            kinds = list(value) if isinstance(value, tuple) else [value]
            if not all(isinstance(kind, type) and issubclass(kind, BaseException) for kind in kinds):
                text = "catching classes that do not inherit from BaseException is not allowed"
                raise raised(TypeError(text), context.loc)
        return [kind for kind in kinds if not issubclass(kind, PytocuError)]


def _is_in(place: tuple[int, int], statements: Sequence[ast.stmt]) -> bool:
    """Whether a line and column is in statements that follow each other."""
    if not statements:
        return False
    first, last = statements[0], statements[-1]
    assert last.end_lineno is not None
    assert last.end_col_offset is not None
    # Columns of nodes are bytes from 0, and those of places are counted from 1.
    return (first.lineno, first.col_offset + 1) <= place and (place[0], 0) <= (last.end_lineno, last.end_col_offset)


def catching(context: Context, error: CompileError, place: Loc | None) -> Trying | None:
    """The innermost ``try`` that catches what is raised at a place; None where none does."""
    for trying in reversed(context.tries):
        if trying.holds(place, trying.node.body) and trying.clause(error) is not None:
            return trying
    return None


def _raised(found: CompileError | Raised) -> Raised | None:
    """An exception of the program; None for what is pytocu's own to refuse."""
    return as_raised(found) if isinstance(found, Raised) or is_raised(found) else None


def run(frame: Frame, node: ast.Try, rest: tuple[ast.stmt, ...]) -> Any:
    """Read a ``try`` statement; `rest` and the result are those of :func:`pytocu.frontend.statements.run_block`."""
    context, builder = frame.context, frame.context.builder
    _refuse_leaving(frame, node.finalbody)
    trying = Trying(frame, node, rest, builder.depth)
    insts, start = builder.insts, len(builder.insts)
    context.tries.append(trying)
    watched, builder.watch = builder.watch, _watch(context)
    catches = builder.catches
    builder.catches = catches or trying.clause(ShapeError("")) is not None
    try:
        signal = _run(trying)
        _decide_last(trying, insts[start:])
        return signal
    except (CompileError, Raised) as found:
        raises = _raised(found)
        if raises is not None and trying.holds(raises.place, *trying.parts):
            _decide_last(trying, insts[start:])
            run_block(frame, node.finalbody)
        raise
    finally:
        context.tries.pop()
        builder.watch, builder.catches = watched, catches


def _run(trying: Trying) -> Any:
    frame, node, rest = trying.frame, trying.node, trying.rest
    insts, start = frame.context.builder.insts, len(frame.context.builder.insts)
    last = (*node.orelse, *node.finalbody)
    try:
        signal = run_block(frame, node.body, (*last, *rest))
    except (CompileError, Raised) as found:
        raises = _raised(found)
        if raises is None or raises.written or not trying.holds(raises.place, node.body):
            raise
        _decide(trying, insts[start:])
        handler = trying.clause(raises.error)
        if handler is None:
            raise
        return _handle(trying, handler, raises)
    _decide(trying, insts[start:])
    return run_block(frame, last, rest) if signal is None else signal


def _handle(trying: Trying, handler: ast.ExceptHandler, found: Raised) -> Any:
    """Read the clause that catches an exception, and the ``finally`` clause."""
    frame, context = trying.frame, trying.frame.context
    behind: list[ast.stmt] = []
    if handler.name is not None:
        frame.locals[handler.name] = _named(found, handler.name)
        # Python unbinds the name at the end of the clause, whatever happened to it.
        nothing = ast.Assign([ast.Name(handler.name, ast.Store())], ast.Constant(None))
        gone = ast.Delete([ast.Name(handler.name, ast.Del())])
        behind = [ast.fix_missing_locations(ast.copy_location(node, handler)) for node in (nothing, gone)]
    behind += trying.node.finalbody
    context.handling.append((trying, handler, found))
    try:
        signal = run_block(frame, handler.body, (*behind, *trying.rest))
    finally:
        context.handling.pop()
    return run_block(frame, behind, trying.rest) if signal is None else signal


def _named(found: Raised, name: str) -> Any:
    """The exception that a clause gives a name."""
    if found.made is not None:
        return found.made
    return Unset(
        f"the text of the exception {name} is put together when it is raised, and is no value of a compiled function",
        "write the text, or raise the exception again: raise",
    )


def again(context: Context) -> Raised | None:
    """What a ``raise`` without an exception raises: what the clause around it caught."""
    for trying, handler, found in reversed(context.handling):
        if trying.holds(context.loc, handler.body):
            return Raised(found.error, found.failing, found.stated, made=found.made, at=context.loc)
    return None


def caught(frame: Frame, node: ast.stmt, found: Raised) -> Callable[[], Any] | None:
    """What reads the clause that catches what a statement raises; None where the exception goes on as one.

    The program behind the ``try`` is read with it, to the end of a loop's step or of the function. A loop inside of the ``try``
    has other steps.
    """
    trying = catching(frame.context, found.error, found.place)
    if trying is None or trying.frame is not frame or _in_loop(trying.node.body, node):
        return None
    handler = trying.clause(found.error)
    assert handler is not None

    def handle() -> Any:
        finish(frame, node, until=trying)
        signal = _handle(trying, handler, found)
        return flow_of(run_block(frame, trying.rest) if signal is None else signal).signal() or Flow()

    return handle


def _in_loop(body: Iterable[ast.AST], node: ast.AST) -> bool:
    """Whether a node of statements is in a loop of theirs."""
    loops = [inner for statement in body for inner in ast.walk(statement) if isinstance(inner, _LOOPS)]
    return any(inner is node for loop in loops for part in loop.body for inner in ast.walk(part))


def finish(frame: Frame, node: ast.stmt, until: Trying | None = None) -> None:
    """Read the ``finally`` clauses that a statement leaves through, the innermost first, up to a ``try`` that catches it."""
    for trying in reversed(frame.context.tries):
        if trying is until:
            break
        if trying.frame is not frame or not trying.holds(frame.loc(node), *trying.parts):
            continue
        if isinstance(node, ast.Break | ast.Continue) and any(_in_loop(part, node) for part in trying.parts):
            # It stays in the statement.
            break
        run_block(frame, trying.node.finalbody)


def _refuse_leaving(frame: Frame, body: Sequence[ast.stmt]) -> None:
    for node in (inner for statement in body for inner in ast.walk(statement)):
        leaves = isinstance(node, ast.Return) or (isinstance(node, ast.Break | ast.Continue) and not _in_loop(body, node))
        if leaves:
            text = "a finally clause that leaves, whatever was raised, is not compiled"
            raise UnsupportedError(text, frame.loc(node), "leave behind the try statement")


def _is_unseen(body: Sequence[ast.stmt]) -> bool:
    """Whether nobody sees what a ``finally`` clause did where an exception leaves the function: it binds names alone."""
    for node in body:
        match node:
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                continue
            case ast.Assign(targets=targets, value=value) if all(isinstance(target, ast.Name) for target in targets):
                pass
            case ast.AnnAssign(target=ast.Name(), value=ast.expr() as value):
                pass
            case _:
                return False
        if any(isinstance(inner, ast.Call | ast.NamedExpr) for inner in ast.walk(value)):
            return False
    return True


# What a run raises.


def refuse_by_data(context: Context, found: Raised) -> None:
    """Refuse what is raised where a run may come or not, if a clause catches it.

    Raises
    ------
    UnsupportedError
    """
    trying = catching(context, found.error, found.place)
    if trying is not None:
        raise _refused(trying, found.error, found.place)


def _refused(
    trying: Trying, error: CompileError, place: Loc | None, inst: Inst | None = None, last: bool = False
) -> UnsupportedError:
    kind = next(kind.__name__ for kind in type(error).__mro__ if not issubclass(kind, PytocuError))
    if last:
        text = f"a run may raise {kind} here, and the finally clause of the try statement on line {trying.node.lineno} follows"
    else:
        handler = trying.clause(error)
        assert handler is not None
        text = f"a run may raise {kind} here, and the except clause on line {handler.lineno} would catch it"
    asked = "" if inst is None else _OF_LIBRARIES.get(str(inst.attr("function")), "")
    help = _HELP.replace("with if", f"as {asked}, else what the clause does") if asked else _HELP
    if isinstance(error, StopIteration):
        help = "write what next() gives where there is none: next(..., -1)"
    return UnsupportedError(text, place, help)


def _watch(context: Context) -> Callable[[Inst], None] | None:
    """Let an instruction raise where it stands what the call that asks is known to raise there, if a clause catches that."""
    if not context.misses:
        return None
    builder = context.builder
    lengths = Lengths(Function("call", "array", Block((), ())), dict(context.sizes), 0, [])

    def watch(inst: Inst) -> None:
        compared = [inst] if inst.op.name == "check" else [regions.comparison(inst, pair) for pair in regions.meetings(inst)]
        for one in compared:
            if not any(isinstance(fact, Fact) and fact in context.misses for fact in regions.conditions(one)):
                continue
            try:
                check(lengths, one, [])
            except CompileError as error:
                trying = catching(context, error, error.loc)
                if trying is None or trying.depth != builder.depth:
                    continue
                if builder.insts[-1] is inst:
                    builder.insts.pop()
                raise

    return watch


def _decide_last(trying: Trying, insts: Sequence[Inst]) -> None:
    """Refuse a ``finally`` clause that anybody sees, behind what a run may raise."""
    if not _is_unseen(trying.node.finalbody):
        for inst, error, _ in _of_runs(insts):
            if trying.holds(inst.loc, *trying.parts):
                raise _refused(trying, error, inst.loc, inst, last=True)


def _decide(trying: Trying, insts: Sequence[Inst]) -> None:
    """State of the lengths of arguments that they are as the statements of a ``try`` need them.

    Raises
    ------
    UnsupportedError
        A run may raise what a clause catches.
    """
    context = trying.frame.context
    given = {n for p in context.given if isinstance(p.type, ArrayType) for d in p.type.shape for n in symbols(d)}
    for inst, error, conditions in _of_runs(insts) if trying.node.handlers else ():
        if not trying.holds(inst.loc, trying.node.body) or trying.clause(error) is None or is_refusal(inst):
            # What a branch raises has been refused where it stands, or is raised again by a clause.
            continue
        facts = [fact for fact in conditions if isinstance(fact, Fact)]
        if not conditions or False in conditions or any(not named(f.dim) <= given or f in context.misses for f in facts):
            raise _refused(trying, error, inst.loc, inst)
        for fact in facts:
            context.builder.emit("assume", (), {"dim": fact.dim, "relation": fact.relation, "number": fact.number})


def _of_runs(insts: Sequence[Inst]) -> Iterator[tuple[Inst, CompileError, Sequence[Fact | bool]]]:
    """What a run may raise, with its instruction, and what keeps it from that where lengths decide."""
    for inst in walk(Block((), tuple(insts))):
        for kind, conditions in _may_raise(inst):
            if kind != "UnsupportedError":
                yield inst, failure(kind, "", (), inst.loc), conditions


def _may_raise(inst: Inst) -> Iterator[tuple[str, Sequence[Fact | bool]]]:
    match inst.op.name:
        case "check" if inst.attr("kind") in ("equal", "fits", "meets"):
            yield inst.attr("shapes")[0], regions.conditions(inst)
        case "check" if inst.attr("kind") == "warn":
            pass
        case "check":
            yield "IndexError" if inst.attr("kind") == "index" else "ValueError", regions.conditions(inst)
        case "require":
            yield inst.attr("error"), ()
        case "writable" if not inst.attr("caught", False):
            yield "ValueError", ()
        case "library" if inst.attr("function").startswith("linalg.") and not dict(inst.attr("options", ())).get("caught"):
            yield "LinAlgError", ()
        case "convert" if not inst.attr("wrap", False) and not _is_small(inst):
            yield "OverflowError", ()
        case "for_loop" if inst.args[2].inst is None or inst.args[2].inst.op.name != "const":
            yield "ValueError", ()
        case name if not regions.is_region(inst) and inst.types and isinstance(inst.types[0], WeakType):
            if (regions.raises(inst) or name in regions.NOT_BELOW_ZERO) and not _is_harmless(inst):
                for kind in ("ZeroDivisionError", "OverflowError", "ValueError"):
                    yield kind, ()
    for first, second in regions.meetings(inst) if inst.op.name != "check" else ():
        yield "ValueError", (fact_of(first - second, "==", 0),)


def _is_harmless(inst: Inst) -> bool:
    """Whether an int is made of an int, raised to a power or shifted by a number that is known not to be negative."""
    ints = all(a.type in (WEAK_INT, WEAK_BOOL) for a in inst.args)
    if not ints or inst.op.name not in regions.NOT_BELOW_ZERO:
        return ints and inst.op.name == "python_int"
    number = inst.args[1].inst
    return number is not None and number.op.name == "const" and number.attr("value") >= 0


def _is_small(inst: Inst) -> bool:
    """Whether a Python number is converted that fits: to a float, or of a constant or a length."""
    made = inst.args[0].inst
    return element(inst.types[0]).kind in "fc" or (made is not None and made.op.name in ("const", "dim"))
