"""Which loops over numbers known now are written out, step by step, and which run as loops.

Written out, a step may do what needs its number while compiling, and what several steps compute becomes one expression:
the terms of a filter are one kernel.  Steps that each write a part of an array are a kernel each, where a loop of run
time is one sweep, or one loop without Python.  And every instruction of every step is compiled, which takes a millisecond or
two: few steps that do much are written out only if they have to be, which the first of them tell.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pytocu.deferred import Deferred
from pytocu.frontend.expressions import evaluate
from pytocu.frontend.frames import Frame, Late, LocalFunction, Unset, owner_of, scope_of
from pytocu.frontend.source import function_node
from pytocu.frontend.state import Container, State, flatten, same_form
from pytocu.frontend.statements import names_in
from pytocu.frontend.values import is_array, is_number
from pytocu.ir.core import Inst, Value, walk
from pytocu.ir.types import WEAK_BOOL, WEAK_INT, ArrayType, ScalarType, Type, element, shape_of

_python_function = Deferred("pytocu.frontend.calls", "python_function")

LONGEST = 32
"""Steps that are written out whatever they do."""
_MOST_IN_LOOPS = 64
"""How often the body of loops in loops is written out, whatever it does."""
_LONGEST_READING = 128
"""Steps that read parts of arrays by their number, and write none."""
_LARGEST = 200
"""Instructions of all steps together, from which on they are a loop of run time if that can do the same."""
_LARGEST_READING = 1024
"""The same where steps read parts of arrays by their number: what they read is read once."""
_LARGE_INT = 2**31
"""From here on it is not seen whether ints of run time, which have 64 bits, hold what is computed."""

_GROW = frozenset({"append", "extend", "insert", "pop", "remove", "clear", "update", "add", "setdefault"})
"""Methods of lists, dicts and sets that change how many members these have."""
_OF_NUMBERS = frozenset({abs, float, int, max, min})
"""Functions of Python that take a number of run time as well as one known now."""
_ROUNDING = (int, math.floor, math.ceil, math.trunc)
_OF_LENGTHS = (np.arange, np.empty, np.full, np.ones, np.zeros)
"""Functions of NumPy that do so for a length."""


def is_written_out(frame: Frame, node: ast.For, values: range) -> bool:
    """Whether each step of a loop is code of its own.

    Longer ones than `LONGEST` are where a step decides, calls something or indexes a list by its number, and where a list
    grows; and up to `_LONGEST_READING` where a step reads a part of an array by its number, and writes none.  The same
    holds where loops in loops have more than `_MOST_IN_LOOPS` steps together.
    """
    times = len(values) * frame.context.written_out
    steps = times * _steps_inside(node.body)
    if len(values) <= LONGEST and (steps <= _MOST_IN_LOOPS or steps == len(values)):
        return True
    use = _Use(frame, names_in(node.target, ast.Store))
    use.find_arrays(node.body)
    if len(values) <= LONGEST:
        use.find_numbers(node.body)
    for statement in node.body:
        use.visit(statement)
    return use.needs or (use.reads and not use.writes and steps <= _LONGEST_READING)


def _steps_inside(body: Sequence[ast.stmt]) -> int:
    """How many steps the loops in a body have together, where literals say so."""
    most = 1
    for node in body:
        inside = 1
        match node:
            case ast.For(iter=ast.Call(func=ast.Name("range"), args=args), body=inner):
                known = [a.value for a in args if isinstance(a, ast.Constant) and isinstance(a.value, int)]
                if len(known) == len(args) and 1 <= len(known) <= 3 and 0 not in known[2:]:
                    inside = max(len(range(*known)), 1)
                inside *= _steps_inside(inner)
            case ast.For(body=inner) | ast.While(body=inner) | ast.With(body=inner):
                inside = _steps_inside(inner)
            case ast.If(body=inner, orelse=other):
                inside = max(_steps_inside(inner), _steps_inside(other))
        most = max(most, inside)
    return most


def _nodes(body: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    """Everything in statements."""
    return (node for statement in body for node in ast.walk(statement))


_MOST_UNLIKE = 3
"""First steps that may be unlike those behind them: a loop of run time can have so many before it."""


class WrittenSteps:
    """Steps that are written out one after the other, and whether they would rather be a loop of run time.

    They would if they are many instructions together, and each is the same but for its number: nothing in it asks while
    compiling which step it is, and it leaves names and lists as it found them, but for numbers and elements.  A few of the
    first may be unlike.

    Parameters
    ----------
    frame : Frame
        As it is before the first step.
    node : ast.For
    number : int
        How many there are.
    """

    def __init__(self, frame: Frame, node: ast.For, number: int) -> None:
        self._frame, self._node, self._number = frame, node, number
        self._before = State(frame)
        self._known = set(self._before.names())
        self._behind = 0
        self._steps: list[list[Inst]] = []
        self._over = False

    def are_a_loop(self, insts: Sequence[Inst]) -> bool:
        """Answer behind each step; `insts` are what the program is made of since the first."""
        if self._over:
            return False
        self._steps.append(list(insts[self._behind :]))
        before, self._before, self._behind = self._before, State(self._frame), len(insts)
        size = self._number * sum(1 + sum(sum(1 for _ in walk(r)) for r in inst.regions) for inst in self._steps[0])
        grew = any(_keys(container) != _keys(copy) for container, copy in before.containers)
        self._over = size <= _LARGEST or grew or len(self._steps) > _MOST_UNLIKE
        if size <= _LARGEST or grew or len(self._steps) == 1 or not _do_the_same(*self._steps[-2:]):
            return False
        changed = self._changed(before)
        return changed is not None and self._can_be_a_loop(size, changed)

    def _changed(self, before: State) -> set[str] | None:
        """Names that hold other numbers, known now, than before the step; None if anything else is not as it was.

        That is values of other types, or other numbers in lists and objects.
        """
        changed: set[str] = set()
        for owner, name in before.names():
            first: list[Any] = []
            second: list[Any] = []
            old, new = before.held(owner, name), owner.locals.get(name)
            if isinstance(old, Unset | Late) and type(old) is type(new):
                continue
            kept = same_form(_form(old, first, ()), _form(new, second, ())) and all(map(_is_alike, first, second))
            was_there = (owner, name) in self._known
            if was_there and not kept:
                return None
            same = kept and all(isinstance(a, Value) or a == b for a, b in zip(first, second, strict=True))
            if same or isinstance(new, Value):
                continue
            if was_there and (isinstance(owner, Container) or not is_number(new)):
                # Syntax does not tell where these are read.
                return None
            changed.add(name)
        return changed

    def _can_be_a_loop(self, size: int, changed: set[str]) -> bool:
        """Whether a loop of run time can do what the steps do, as far as syntax tells."""
        use = _Use(self._frame, names_in(self._node.target, ast.Store), _counted(self._frame, self._node))
        use.find_known(self._node.body, changed)
        for statement in self._node.body:
            use.visit(statement)
        # A loop of run time is a kernel of its own, which shares nothing with that of the next step.
        shared = use.reads and not any(inst.op.name in ("for_loop", "while_loop") for inst in self._steps[0])
        return not (use.needs or use.grows) and (size > _LARGEST_READING or not shared)


def _keys(container: Any) -> Any:
    """What a loop of run time cannot change of a list, dict or set."""
    return len(container) if isinstance(container, list) else set(container)


def _form(value: Any, leaves: list[Any], around: tuple[Any, ...]) -> Any:
    """As :func:`flatten`, with the members of lists and dicts."""
    if not isinstance(value, (list, dict)) or any(value is one for one in around):
        return flatten(value, leaves)
    members = value.values() if isinstance(value, dict) else value
    keys = map(str, value) if isinstance(value, dict) else ()
    return (type(value), *keys, *(_form(member, leaves, (*around, value)) for member in members))


def _is_alike(first: Any, second: Any) -> bool:
    """Whether two numbers or arrays are of one type."""
    if isinstance(first, Value) and isinstance(second, Value):
        return first.type == second.type
    return type(first) is type(second)


def _do_the_same(first: Sequence[Inst], second: Sequence[Inst]) -> bool:
    """Whether two steps are made of the same operations; lengths, positions and constants may be others."""
    made = [[(i.op, [_kind(t) for t in i.types]) for i in step if i.args] for step in (first, second)]
    return made[0] == made[1]


def _kind(type: Type) -> tuple[Any, int]:
    """The dtype of a type, or a type without one, and the number of axes."""
    return element(type) if isinstance(type, ArrayType | ScalarType) else type, len(shape_of(type))


def _counted(frame: Frame, node: ast.For) -> set[str]:
    """The names of Python ints that a step changes, or makes of such and of the numbers of the loop."""
    read: dict[str, set[str]] = {}
    for inner in (n for statement in node.body for n in ast.walk(statement)):
        match inner:
            case ast.Assign(value=value) | ast.AnnAssign(value=value) | ast.NamedExpr(value=value) if value is not None:
                given = names_in(value, ast.Load)
            case ast.AugAssign():
                given = names_in(inner.value, ast.Load) | names_in(inner.target, ast.Store)
            case _:
                continue
        for name in names_in(inner, ast.Store):
            if _is_int(frame.locals.get(name)):
                read.setdefault(name, set()).update(given)
    steps = names_in(node.target, ast.Store)
    while same := [name for name, given in read.items() if given.isdisjoint(steps | read.keys())]:
        for name in same:
            del read[name]
    return set(read)


def _is_int(value: Any) -> bool:
    """Whether a value of the program is a Python int, known now or only at run time."""
    return isinstance(value, int) or (isinstance(value, Value) and value.type in (WEAK_INT, WEAK_BOOL))


class _Use(ast.NodeVisitor):
    """What the statements of a loop do by the numbers of its steps.

    Parameters
    ----------
    frame : Frame
    steps : set of str
        The names of these numbers.
    counted : set of str, optional
        Other ints of the program that steps change, if the loop is asked for as one of run time: then functions of the
        program may be given numbers.
    """

    def __init__(self, frame: Frame, steps: set[str], counted: set[str] | None = None) -> None:
        self.frame = frame
        self.steps = steps
        self.numbers = steps | (counted or set())
        self.known: set[str] = set()
        """Names of what else is computed while compiling, and may be other in each step."""
        self.of_program = counted is None
        self.inside: tuple[ast.AST, ...] = ()
        """The functions that are being read."""
        self.arrays: set[str] = set()
        """Names that the loop binds to what NumPy makes."""
        self.needs = False
        """Something that is to be known while compiling."""
        self.grows = False
        """Ints that may not fit 64 bits."""
        self.reads = False
        self.writes = False

    def find_arrays(self, body: Sequence[ast.stmt]) -> None:
        """Know the names that the loop binds first, and to what functions of NumPy give."""
        for node in _nodes(body):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Attribute(value=ast.Name(id=module)))):
                    held = self.frame.locals.get(name)
                    # A name of the function's own is no module, and need not be bound yet.
                    if self._is_own(module) or not (held is None or isinstance(held, Unset)):
                        continue
                    if evaluate(self.frame, ast.copy_location(ast.Name(module, ast.Load()), node.value)) is np:
                        self.arrays.add(name)

    def _is_own(self, name: str) -> bool:
        scope: Frame | None = self.frame
        while scope is not None:
            if name in scope.locals or name in scope.scope.names:
                return True
            scope = scope.parent
        return False

    def find_numbers(self, body: Sequence[ast.stmt]) -> None:
        """Know the names that are bound to what is made of the numbers."""
        # In order of depth, so that a loop's number comes before what its body makes of it.
        for node in _nodes(body):
            match node:
                case ast.Assign(value=value, targets=targets):
                    pass
                case ast.AugAssign(value=value, target=target) | ast.For(iter=value, target=target):
                    targets = [target]
                case _:
                    continue
            names = set().union(*(names_in(target, ast.Store) for target in targets))
            if self.inside and self.is_data(value):
                self.arrays |= names - self.numbers
            elif self.by_number(value):
                self.numbers |= names

    def find_known(self, body: Sequence[ast.stmt], changed: set[str]) -> None:
        """Know the names that are `changed`, or bound to what is made of the numbers and is no value of run time."""
        numbers = set(self.numbers)
        self.known |= changed
        self.find_numbers(body)
        for name in self.numbers - numbers:
            leaves: list[Any] = []
            _form(self.frame.locals.get(name), leaves, ())
            kinds = {type(leaf) for leaf in leaves if not isinstance(leaf, Value)}
            if kinds:
                self.known.add(name)
            if kinds - {float}:
                numbers.add(name)
        self.numbers = numbers

    def by_number(self, node: ast.AST) -> bool:
        """Whether the number stands in a part of the program, but for the places in arrays that are read."""
        if isinstance(node, ast.Subscript) and self.is_array(node.value):
            return False
        if isinstance(node, ast.Name):
            return node.id in self.numbers and isinstance(node.ctx, ast.Load)
        return any(map(self.by_number, ast.iter_child_nodes(node)))

    def is_array(self, node: ast.AST) -> bool:
        """Whether it is an array that the loop finds, or a part of one."""
        match node:
            case ast.Subscript(value=inner) | ast.Attribute(value=inner, attr="T" | "mT" | "real" | "imag"):
                return self.is_array(inner)
            case ast.Name(id=name):
                value = self.frame.locals.get(name)
                return (isinstance(value, Value) and is_array(value)) or name in self.arrays
        return False

    def is_of_numbers(self, node: ast.expr) -> bool:
        """Whether it names a function that takes a number of run time as well as one known now."""
        if not isinstance(node, (ast.Name, ast.Attribute)) or self.by_number(node):
            return False
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name) or self.is_local(root.id):
            return False
        function = evaluate(self.frame, node)
        known = isinstance(function, np.ufunc) or getattr(function, "__module__", None) == math.__name__
        return known or any(function is f for f in _OF_NUMBERS)

    def is_rounding(self, node: ast.expr) -> bool:
        """Whether it names a function that gives the int beside a number."""
        return self.is_of_numbers(node) and any(evaluate(self.frame, node) is f for f in _ROUNDING)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        numbered = not self.numbers.isdisjoint(names_in(node.slice, ast.Load))
        if numbered and not self.is_array(node.value):
            self.needs = True
        elif numbered:
            self.reads = self.reads or isinstance(node.ctx, ast.Load)
            self.writes = self.writes or not isinstance(node.ctx, ast.Load)
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        self._decides(node, node.test)

    def visit_For(self, node: ast.For) -> None:
        match node.iter:
            case ast.Call(func=ast.Name() as called, args=bounds, keywords=[]) if self.may_be_run_time(called):
                # How many steps it has may be a number of run time as well.
                for inner in (*bounds, node.target, *node.body, *node.orelse):
                    self.visit(inner)
            case _:
                self.generic_visit(node)

    def may_be_run_time(self, node: ast.Name) -> bool:
        """Whether a loop over what a function gives can be one of run time, if the loop around it becomes one."""
        return not self.of_program and self.named(node) is range

    def visit_While(self, node: ast.While) -> None:
        self._decides(node, node.test)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._decides(node, node.test)

    def visit_Assert(self, node: ast.Assert) -> None:
        self._decides(node, node.test)

    def _decides(self, node: ast.AST, test: ast.expr) -> None:
        self.needs = self.needs or self.by_number(test) or not self.known.isdisjoint(names_in(test, ast.Load))
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name) and node.func.attr in _GROW:
            name = node.func.value.id
            self.needs = self.needs or isinstance(owner_of(self.frame, name).locals.get(name), (list, dict, set))
        if self.is_given_number(node) and not self.is_of_numbers(node.func):
            known = self.of_program or not (self.follow(node) or self.makes_array(node.func))
            self.needs = self.needs or known
        self.generic_visit(node)

    def is_given_number(self, node: ast.Call) -> bool:
        """Whether a call is given the number; a method of an array that is made by it is not, if the arguments have none."""
        if self.of_program or not isinstance(node.func, ast.Attribute) or isinstance(node.func.value, ast.Name):
            return self.by_number(node)
        return any(map(self.by_number, (*node.args, *node.keywords)))

    def follow(self, node: ast.Call) -> bool:
        """Whether a call is one of a function that is read with the loop; what it does by numbers is known then."""
        found = self.named(node.func) if isinstance(node.func, ast.Name) else None
        if isinstance(found, LocalFunction):
            inner, outer = found.node, found.frame
            frame = Frame(outer.context, outer.function, scope_of(inner), {}, outer.file, found.__name__, None, outer)
        else:
            function = _python_function(found)
            if function is None:
                return False
            inner = function_node(function)
            file = function.__code__.co_filename
            frame = Frame(self.frame.context, function, scope_of(inner), {}, file, function.__name__, None)
        if any(inner is one for one in self.inside):
            return False
        given = self.given(node, inner.args)
        use = _Use(frame, {name for name, value in given if self.by_number(value)}, set())
        use.inside = (*self.inside, inner)
        use.arrays = {name for name, value in given if self.is_data(value)} - use.numbers
        body = [ast.Expr(inner.body)] if isinstance(inner, ast.Lambda) else inner.body
        use.find_numbers(body)
        for statement in body:
            use.visit(statement)
        self.needs, self.grows = self.needs or use.needs, self.grows or use.grows
        return True

    def given(self, node: ast.Call, parameters: ast.arguments) -> list[tuple[str, ast.expr]]:
        """Parameters of a function, and what a call gives for them; all are given what is not told apart."""
        listed = [*parameters.posonlyargs, *parameters.args]
        every = [p for p in (*listed, *parameters.kwonlyargs, parameters.vararg, parameters.kwarg) if p is not None]
        names = {p.arg for p in every}
        plain = not any(isinstance(arg, ast.Starred) for arg in node.args) and len(node.args) <= len(listed)
        if not plain or any(k.arg not in names for k in node.keywords):
            return [(p.arg, value) for p in every for value in (*node.args, *(k.value for k in node.keywords))]
        positional = [(p.arg, value) for p, value in zip(listed, node.args, strict=False)]
        return [*positional, *((k.arg, k.value) for k in node.keywords if k.arg is not None)]

    def is_data(self, node: ast.expr) -> bool:
        """Whether it is an array, or a number computed of one."""
        match node:
            case ast.BinOp(left=left, right=right):
                return self.is_data(left) or self.is_data(right)
            case ast.UnaryOp(operand=operand):
                return self.is_data(operand)
            case ast.Call(func=function, args=[first, *_]):
                return self.is_of_numbers(function) and self.is_data(first)
        return self.is_array(node)

    def makes_array(self, node: ast.expr) -> bool:
        """Whether it names a function that makes an array of a length."""
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name) or self.is_local(node.value.id):
            return False
        found = evaluate(self.frame, node)
        return any(found is function for function in _OF_LENGTHS)

    def is_local(self, name: str) -> bool:
        """Whether the function binds a name itself."""
        return name in self.frame.locals or name in self.frame.scope.names

    def named(self, node: ast.Name) -> Any:
        """What a name is bound to; None for one that a function binds that is not read yet."""
        if self.is_local(node.id):
            return self.frame.locals.get(node.id)
        return evaluate(self.frame, node)

    # Ints of run time have 64 bits, and Python's any number.

    def visit_Constant(self, node: ast.Constant) -> None:
        self.grows = self.grows or (type(node.value) is int and abs(node.value) >= _LARGE_INT)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if isinstance(node.op, ast.Pow | ast.LShift) and self.by_number(node.right) and self.may_be_int(node.left):
            self.grows = True
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        self._binds(node, {name for target in node.targets for name in names_in(target, ast.Store)})

    def _binds(self, node: ast.Assign | ast.NamedExpr, names: set[str]) -> None:
        # One that is made of the number of the step is as small as that, and what this is rounded to.
        value = node.value
        while isinstance(value, ast.Call) and len(value.args) == 1 and self.is_rounding(value.func):
            (value,) = value.args
        others = set() if isinstance(value, ast.Name) else names_in(value, ast.Load) & self.numbers - self.steps
        self.grows = self.grows or bool(names & self.numbers and others)
        self.generic_visit(node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self._binds(node, {node.target.id})

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if not self.numbers.isdisjoint(names_in(node.target, ast.Store)):
            counts = isinstance(node.op, ast.Add | ast.Sub) and self.is_constant(node.value)
            self.grows = self.grows or not counts
        self.generic_visit(node)

    def is_constant(self, node: ast.expr) -> bool:
        """Whether it is a number in the text, or a name of a small int that is the same in each step."""
        if not isinstance(node, ast.Name):
            return isinstance(node, ast.Constant)
        value = None if self.inside or node.id in self.numbers else self.named(node)
        return type(value) is int and abs(value) < _LARGE_INT

    def may_be_int(self, node: ast.expr) -> bool:
        """Whether an expression may be a Python int, as far as it is seen."""
        match node:
            case ast.Constant(value=value):
                return isinstance(value, int)
            case ast.Name(id=name) if self.inside and self.is_local(name):
                return name not in self.arrays
            case ast.Name():
                return _is_int(self.named(node))
            case ast.UnaryOp(operand=operand):
                return self.may_be_int(operand)
            case ast.BinOp(op=ast.Div()):
                return False
            case ast.BinOp(left=left, right=right):
                return self.may_be_int(left) and self.may_be_int(right)
        return True


__all__ = ["LONGEST", "WrittenSteps", "is_written_out"]
