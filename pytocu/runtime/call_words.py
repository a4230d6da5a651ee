"""From the text of a ready program to a list of operations that native code runs.

In: the function `run` of a program for one exact signature (:func:`pytocu.runtime.access.native_access` says how it is
written), with what `bind` computed for the signature, and how the arrays of the library are told apart.  Out: :class:`Words`.

The text is written as that of every program, so there is one place that says what a call does.  What is understood is the
little that ready programs consist of: attributes, calls, sums of Python's numbers, comparisons that leave the call, launches.
:class:`NotNative` is raised for any other text, and then Python runs it.
"""

from __future__ import annotations

import ast
import ctypes
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from pytocu.call_operations import MOST_PARAMETERS
from pytocu.errors import NOTHING, InternalError, PytocuError
from pytocu.guards import Default, Identity, argument_key
from pytocu.runtime.call_frames import Known, Launching, NotNative, Value, Words, bits
from pytocu.runtime.libraries import Library, is_array_class

_ELEMENTS = object.__basicsize__
"""Where an array of NumPy has the address of its elements, behind the head of every object."""

_DTYPE = 24
"""Where a dtype of NumPy has its kind, letter, byte order and number, in 8 bytes."""

_WRITEABLE = 0x400
"""NumPy's flag of arrays that may be written."""


class Compiler:
    """Writes the operations of one signature.

    Parameters
    ----------
    classes : sequence of type
        Of the arguments.
    static : sequence of bool
        Which of them the code is compiled for the value of.
    count : int
        Arguments that are passed; those behind them have their defaults.
    """

    def __init__(self, classes: Sequence[type], static: Sequence[bool], count: int):
        self.classes = classes
        self.static = static
        self.words = Words(count)
        self.locals: dict[str, Value | Known] = {}
        self.globals: Mapping[str, Any] = {}
        self.elements: dict[str, Value] = {}
        self.noted: dict[int, tuple[int, int]] = {}
        # Parameters of kernels by name, and what NumPy scalars are as numbers.
        self.wanted: dict[str, str] = {}
        self.scalars: dict[int, Value] = {}
        self.launching: Launching | None = None
        # Whether it was asked if other threads can help.
        self.asked = False

    # What tells the signature.

    def compare(self, library: Library, key: Sequence[Any], globals: Mapping[str, Any]) -> None:
        """Leave a call whose arguments have other classes, or whose arrays are not what `key` says."""
        self.globals = globals
        parts = iter(key)
        for n, kind in enumerate(self.classes[: self.words.count]):
            self.words.emit("type", n, self.words.constant(kind))
        given = 0
        for n, (kind, fixed) in enumerate(zip(self.classes, self.static, strict=True)):
            if fixed or kind is type(None):
                if fixed and kind not in (type(None), Default):
                    self.compare_known(n, next(parts))
                continue
            # What `run` calls it.
            name = f"v{given}"
            given += 1
            if is_array_class(kind):
                self.compare_array(library, n, name, parts)
                continue
            value = Value(n, "object")
            if kind is float or kind in (int, bool):
                value = Value(self.words.word(0), "float" if kind is float else "int", n)
                self.words.emit(value.kind, value.at, n)
            elif kind is not complex and not issubclass(kind, np.generic):
                raise NotNative(f"an argument of the class {kind.__name__}")
            self.locals[name] = value

    def compare_array(self, library: Library, n: int, name: str, parts: Iterator[Any]) -> None:
        self.locals[name] = self.locals[f"a{n}"] = Value(n, "object")
        if library.native:
            dtype, shape, strides = (next(parts) for _ in library.exact)
            at, wanted = self.words.word(0), self.words.region(2 * len(shape))
            for place, number in enumerate((*shape, *strides), wanted):
                self.words.frame[place] = number & (2**64 - 1)
            told = ctypes.c_uint64.from_address(id(dtype) + _DTYPE).value
            self.words.emit("array", at, n, self.words.word(told), wanted, len(shape))
            self.elements[name] = Value(at, "word")
            self.locals[f"s{n}"] = Known(shape)
        else:
            for line in library.reads:
                self.statement(ast.parse(line.format(n=n)).body[0])
            self.judge(library.judge.format(n=n))
            for template in library.exact:
                self.compare_part(ast.parse(template.format(n=n), mode="eval").body, next(parts))
        for given in library.given:
            local = given.format(n=n)
            self.locals[f"{local[: -len(str(n))]}{name[1:]}"] = self.locals[local]

    def compare_known(self, n: int, key: Any) -> None:
        """Leave a call that has another value in place of an argument that the code is compiled for the value of."""
        if n >= self.words.count:
            # Its default.
            return
        match key:
            case ("object", type()):
                # Its class, which is compared, is all that the key says.
                return
            case (type() as kind, value) if kind in (bool, int, str, bytes):
                self.words.emit("equal", n, self.words.constant(value))
            case Identity():
                self.words.emit("same", n, self.words.constant(key.object))
            case _:
                found = self.call(Known(argument_key), [Value(n, "object")])
                self.words.emit("equal", found.at, self.words.constant(key))

    def judge(self, text: str) -> None:
        """Leave a call of whose array one of the terms is true."""
        if not text:
            return
        judged = ast.parse(text, mode="eval").body
        for term in judged.values if isinstance(judged, ast.BoolOp) else [judged]:
            match term:
                case ast.Compare(left=left, ops=[ast.IsNot()], comparators=[right]):
                    self.words.emit("same", self.at(self.value(left)), self.at(self.value(right)))
                case _:
                    self.words.emit("same", self.at(self.value(term)), self.words.constant(False))

    def compare_part(self, part: ast.expr, wanted: Any) -> None:
        if isinstance(part, ast.BoolOp):
            short, long = part.values
            if wanted is not True:
                self.words.emit("same", self.at(self.value(short)), self.words.constant(False))
            part = short if wanted is True else long
        compared = "equal" if isinstance(wanted, (tuple, int)) and wanted is not True else "same"
        self.words.emit(compared, self.at(self.value(part)), self.words.constant(wanted))
        if isinstance(part, ast.Name):
            self.locals[part.id] = Known(wanted)

    # The program.

    def program(self, body: Sequence[ast.stmt], names: Mapping[str, Any], launching: Launching) -> None:
        """What `run` does; `names` are its globals and what `bind` computed."""
        self.globals = names
        self.launching = launching
        for node in (n for statement in body for n in ast.walk(statement)):
            match node:
                case ast.Call(func=ast.Name(id="launch"), args=[ast.Constant(value=int(number)), *_, ast.Tuple(elts=values)]):
                    words = zip(values, launching.parameters[number], strict=True)
                    self.wanted |= {v.id: word for v, word in words if isinstance(v, ast.Name)}
        for name in tuple(self.locals):
            self.unpack(name)
        for statement in body:
            self.statement(statement)

    def unpack(self, name: str) -> None:
        """Read the number of a NumPy scalar that kernels are given, before there is one that has begun."""
        found, word = self.locals[name], self.wanted.get(name, "pointer")
        if word != "pointer" and isinstance(found, Value) and found.kind == "object" and found.at not in self.scalars:
            self.scalars[found.at] = made = Value(self.words.word(0), "float" if word[0] == "f" else "int")
            self.words.emit(made.kind, made.at, found.at)

    def statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self.locals[name] = self.value(value)
                self.unpack(name)
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Call() as call):
                found = self.at(self.value(call))
                for number, name in enumerate(map(ast.unparse, names)):
                    self.locals[name] = self.made("item", found, self.words.constant(number))
            case ast.If(test=test, body=[ast.Return(value=ast.Name(id="NotImplemented"))], orelse=[]):
                self.leave(test)
            case ast.If(
                test=ast.Compare(left=ast.Subscript(value=words, slice=at)),
                body=[ast.Expr(value=ast.Call(func=ast.Name(id="raise_found"), args=[_, number]))],
                orelse=[],
            ):
                self.raise_found(self.value(words), self.known(at), self.known(number))
            case ast.If(body=[ast.Expr(value=ast.Call(func=ast.Name(id=name)))], orelse=[]) if name.startswith("fail"):
                self.need(statement.test, False)
            case ast.If(test=test, body=body, orelse=other):
                chosen = self.value(test)
                if not isinstance(chosen, Known):
                    self.where_some(chosen, body, other)
                    return
                for inner in body if chosen.value else other:
                    self.statement(inner)
            case ast.Try(body=body):
                # Where something goes wrong Python computes it again, and raises.
                for inner in body:
                    self.statement(inner)
            case ast.Expr(value=ast.Call(func=ast.Name(id="launch"), args=[number, *details, ast.Tuple(elts=values)])):
                self.launch(self.known(number), [self.value(d) for d in details], [self.value(v) for v in values])
            case ast.Expr(value=ast.Call() as call):
                self.value(call)
            case ast.Delete(targets=targets):
                # Memory of the next ones; nothing else names what kernels alone have seen.
                for gone in (self.value(target) for target in targets):
                    self.words.emit("drop", self.at(gone), self.at(gone))
            case ast.Return(value=value):
                found = Known(None) if value is None else self.value(value)
                self.words.emit("return", self.at(found))
            case _:
                raise NotNative(ast.unparse(statement))

    def leave(self, test: ast.expr) -> None:
        """Leave the call where the test is true."""
        match test:
            case ast.BinOp(left=left, op=ast.BitAnd(), right=ast.Constant(value=int(mask))):
                self.words.emit("aligned", self.number(self.value(left)).at, mask)
            case ast.Compare(left=low, ops=[ast.Lt(), ast.Lt()], comparators=[middle, high]):
                self.words.emit("outside", *(self.number(self.value(v)).at for v in (middle, low, high)))
            case ast.UnaryOp(op=ast.Not(), operand=ast.Call(func=ast.Name(id="writeable"), args=[array])):
                self.words.emit("flags", self.at(self.value(array)), _WRITEABLE)
            case ast.Compare(left=left, ops=[ast.NotEq()], comparators=[right]):
                sides = [self.value(left), self.value(right)]
                if not all(isinstance(s, Known) for s in sides):
                    self.words.emit("same", *(self.number(s).at for s in sides))
                elif sides[0] != sides[1]:
                    raise NotNative(ast.unparse(test))
            case _:
                raise NotNative(ast.unparse(test))

    def where_some(self, chosen: Value, body: Sequence[ast.stmt], other: Sequence[ast.stmt]) -> None:
        """Launches for so many elements, where there are some."""
        if [ast.unparse(s) for s in other] != ["idle()"]:
            raise NotNative("a branch")
        place = len(self.words.operations)
        self.words.emit("skip", self.number(chosen).at, 0)
        for inner in body:
            self.statement(inner)
        name, (at, _) = self.words.operations[place]
        behind = sum(1 + len(operands) for _, operands in self.words.operations[place + 1 :])
        self.words.operations[place] = name, (at, behind)

    def need(self, test: ast.expr, truth: bool) -> None:
        """Leave the call unless the test about whole numbers has this truth value."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self.need(operand, not truth)
            case ast.BoolOp(op=op, values=values) if isinstance(op, ast.And) == truth:
                for value in values:
                    self.need(value, truth)
            case ast.Compare(left=left, ops=ops, comparators=others) if truth or len(ops) == 1:
                x = self.number(self.value(left))
                for op, other in zip(ops, others, strict=True):
                    y = self.number(self.value(other))
                    self.compare_numbers(op if truth else _OPPOSITES[type(op)](), x, y)
                    x = y
            case _:
                raise NotNative(ast.unparse(test))

    def compare_numbers(self, op: ast.cmpop, x: Value, y: Value) -> None:
        if {x.kind, y.kind} != {"int"}:
            raise NotNative("a comparison of other numbers")
        if isinstance(op, (ast.Gt, ast.GtE)):
            x, y = y, x
        name = {ast.Eq: "same", ast.NotEq: "differ", ast.Lt: "less", ast.Gt: "less"}.get(type(op), "at_most")
        self.words.emit(name, x.at, y.at)

    def known(self, node: ast.expr) -> Any:
        return self.object_of(self.value(node))

    def object_of(self, found: Value | Known) -> Any:
        """What is known before the call."""
        if not isinstance(found, Known):
            raise NotNative("an object that the call makes")
        return found.value

    def value(self, node: ast.expr) -> Value | Known:
        match node:
            case ast.Constant(value=value):
                return Known(value)
            case ast.Name(id=name):
                return self.named(name)
            case ast.Tuple(elts=members):
                found = [self.value(m) for m in members]
                if all(isinstance(f, Known) for f in found):
                    return Known(tuple(f.value for f in found if isinstance(f, Known)))
                return self.made("tuple", self.passed(found), len(found))
            case ast.Call(func=ast.Name(id="pointer"), args=[address]):
                made = Value(self.words.word(0), "word", self.at(self.value(address)))
                self.words.emit("pointer", made.at, made.boxed or 0)
                return made
            case ast.Call(func=ast.Name(id="memory"), args=[array]):
                made = Value(self.words.word(0), "word")
                self.words.emit("memory", made.at, self.at(self.value(array)), _ELEMENTS)
                return made
            case ast.Call(func=ast.Name(id="elements"), args=[ast.Name(id=array)]):
                return self.elements[array]
            case ast.Call(func=ast.Name(id="new_words"), args=[ast.Constant(value=int(count))]):
                return self.new_words(count)
            case ast.Call(func=ast.Attribute(value=base, attr=name), args=arguments, keywords=[]):
                given = [base, *arguments]
                return self.made("method", self.words.constant(name), self.passed(map(self.value, given)), len(given))
            case ast.Call(func=ast.Name(id="word_at"), args=[address]):
                made = Value(self.words.word(0), "int")
                self.words.emit("memory", made.at, self.number(self.value(address)).at, 0)
                return made
            case ast.Call(func=ast.Name(id="clamped"), args=[bound, length]):
                return self.of_two("clamped", self.value(bound), self.value(length))
            case ast.Call(func=function, args=arguments, keywords=keywords):
                given = [self.value(v) for v in (*arguments, *(k.value for k in keywords))]
                return self.call(self.value(function), given, [k.arg or "" for k in keywords])
            case ast.Dict(keys=keys, values=members) if keys:
                names = [k.value for k in keys if isinstance(k, ast.Constant) and isinstance(k.value, str)]
                if len(names) < len(keys):
                    raise NotNative(ast.unparse(node))
                return self.call(Known(dict), [self.value(m) for m in members], names)
            case ast.List(elts=members):
                return self.call(Known(list), [self.made("tuple", self.passed(map(self.value, members)), len(members))])
            case ast.Attribute(value=base, attr=name):
                return self.made("attribute", self.at(self.value(base)), self.words.constant(name))
            case ast.Subscript(value=base, slice=index):
                return self.made("item", self.at(self.value(base)), self.at(self.value(index)))
            case ast.IfExp(test=ast.Compare(left=low, ops=[ast.LtE(), ast.LtE()], comparators=[middle, high]), body=body):
                return self.inside([self.value(v) for v in (middle, low, high)], body)
            case ast.IfExp(test=ast.Compare(left=left, ops=[ast.Lt() | ast.Gt() as op], comparators=[right])):
                x, y = self.value(left), self.value(right)
                if (_named(left), _named(right)) != (ast.unparse(node.body), ast.unparse(node.orelse)):
                    raise NotNative(ast.unparse(node))
                return self.of_two("minimum" if isinstance(op, ast.Lt) else "maximum", x, y)
            case ast.BoolOp(op=ast.Or(), values=[number, ast.Constant(value=1)]):
                # Of a number of elements.
                return self.of_two("maximum", self.value(number), Known(1))
            case ast.NamedExpr(target=ast.Name(id=name), value=value):
                self.locals[name] = found = self.value(value)
                return found
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.negative(self.value(operand))
            case ast.BinOp(left=left, op=op, right=right):
                return self.binary(op, self.value(left), self.value(right))
            case _:
                raise NotNative(ast.unparse(node))

    def named(self, name: str) -> Value | Known:
        if name in self.locals:
            return self.locals[name]
        if name not in self.globals:
            raise NotNative(name)
        return Known(self.globals[name])

    def made(self, operation: str, *operands: int) -> Value:
        made = Value(self.words.object(), "object")
        self.words.emit(operation, made.at, *operands)
        return made

    def at(self, found: Value | Known) -> int:
        """The word that has an object."""
        if isinstance(found, Known):
            return self.words.constant(found.value)
        if found.kind == "object":
            return found.at
        if found.boxed is not None:
            return found.boxed
        if found.kind == "word":
            raise NotNative("an address where an object is needed")
        return self.made(f"box_{found.kind}", found.at).at

    def number(self, found: Value | Known) -> Value:
        """The word that has a number."""
        match found:
            case Known(value=bool(value) | int(value)) if -(2**63) <= value < 2**63:
                return Value(self.words.word(int(value)), "int")
            case Known(value=float(value)) if type(value) is float:
                return Value(self.words.word(bits(value)), "float")
            case Known(value=np.generic()):
                return self.number(Known(found.value.item()))
            case Value(kind="int" | "float" | "word"):
                return found
        raise NotNative("an object where a number is needed")

    def passed(self, values: Iterable[Value | Known]) -> int:
        """Words that follow each other, with objects."""
        words = [self.at(value) for value in values]
        start = self.words.region(len(words))
        for place, word in enumerate(words, start):
            self.words.emit("copy", place, word)
        return start

    def of_two(self, name: str, left: Value | Known, right: Value | Known) -> Value:
        """A whole number of two."""
        x, y = self.number(left), self.number(right)
        if {x.kind, y.kind} != {"int"}:
            raise NotNative(f"{name} of other numbers")
        made = Value(self.words.word(0), "int")
        self.words.emit(name, made.at, x.at, y.at)
        return made

    def call(self, called: Value | Known, given: Sequence[Value | Known], keywords: Sequence[str] = ()) -> Value:
        """Call a Python function; the last arguments are passed by name."""
        start = self.passed(given)
        names = self.words.constant(tuple(keywords)) if keywords else self.words.word(0)
        return self.made("call", self.at(called), start, len(given) - len(keywords), names)

    def new_words(self, count: int) -> Value:
        """Words in which kernels note what is wrong with the data."""
        start = self.words.region(count)
        self.words.frame[start : start + count] = [NOTHING & (2**64 - 1)] * count
        made = Value(self.words.word(0), "word")
        self.words.emit("address", made.at, start)
        self.noted[made.at] = start, count
        return made

    def raise_found(self, words: Value | Known, at: int, number: int) -> None:
        """Raise what a kernel has noted."""
        raise_found = self.globals["raise_found"]
        assert isinstance(words, Value)
        start, count = self.noted[words.at]

        def found(address: int) -> Exception:
            return raised(raise_found, (ctypes.c_int64 * count).from_address(address), number)

        nothing = self.words.word(NOTHING)
        self.words.emit("found", start + at, nothing, words.at, self.words.constant(found))

    def inside(self, bounds: Sequence[Value | Known], body: ast.expr) -> Value | Known:
        """A number that is returned as it is between two bounds; beyond them Python converts it."""
        number, low, high = map(self.number, bounds)
        if number.kind == "float":
            self.words.emit("float_inside", number.at, self.to_float(low).at, self.to_float(high).at)
        else:
            self.words.emit("at_most", low.at, number.at)
            self.words.emit("at_most", number.at, high.at)
        return self.value(body)

    def to_float(self, number: Value) -> Value:
        if number.kind == "float":
            return number
        made = Value(self.words.word(0), "float")
        self.words.emit("int_to_float", made.at, number.at)
        return made

    def negative(self, operand: Value | Known) -> Value | Known:
        if isinstance(operand, Known):
            return Known(-operand.value)
        number = self.number(operand)
        made = Value(self.words.word(0), number.kind)
        if number.kind == "float":
            self.words.emit("float_negative", made.at, number.at)
        else:
            self.words.emit("int_subtract", made.at, self.words.word(0), number.at)
        return made

    def binary(self, op: ast.operator, left: Value | Known, right: Value | Known) -> Value | Known:
        if isinstance(left, Known) and isinstance(right, Known) and type(op) in _KNOWN_OPERATORS:
            return Known(_KNOWN_OPERATORS[type(op)](left.value, right.value))
        x, y = self.number(left), self.number(right)
        if isinstance(op, ast.BitOr) and {x.kind, y.kind} == {"word"}:
            made = Value(self.words.word(0), "word")
            self.words.emit("or", made.at, x.at, y.at)
            return made
        if isinstance(op, (ast.Mod, ast.FloorDiv)) and {x.kind, y.kind} <= {"int", "float"}:
            found = self.call(Known(operator.mod if isinstance(op, ast.Mod) else operator.floordiv), [x, y])
            made = Value(self.words.word(0), "float" if "float" in (x.kind, y.kind) else "int", found.at)
            self.words.emit(made.kind, made.at, found.at)
            return made
        name = {ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide"}.get(type(op))
        if name is None or (name == "divide" and "float" not in (x.kind, y.kind)):
            raise NotNative(type(op).__name__)
        if "float" in (x.kind, y.kind):
            x, y = self.to_float(x), self.to_float(y)
            made = Value(self.words.word(0), "float")
        else:
            made = Value(self.words.word(0), "int")
        self.words.emit(f"{made.kind}_{name}", made.at, x.at, y.at)
        return made

    def launch(self, number: int, details: Sequence[Value | Known], values: Sequence[Value | Known]) -> None:
        """Start a kernel: on a CPU for so many iterations at so much each, else in so many blocks of so many threads."""
        launching = self.launching
        assert launching is not None
        parameters = launching.parameters[number]
        if len(parameters) > MOST_PARAMETERS:
            raise NotNative(f"{len(parameters)} parameters")
        start = self.words.region(len(parameters))
        for place, (value, word) in enumerate(zip(values, parameters, strict=True), start):
            self.parameter(place, value, word)
        self.words.keep.extend(launching.keep)
        kernel = self.words.word(launching.kernels[number])
        if not launching.address:
            work, cost = details
            if isinstance(work, Known) and isinstance(cost, Known):
                if work.value * cost.value > launching.most:
                    self.need_one_thread(work.value * cost.value)
            else:
                done = self.number(self.binary(ast.Mult(), work, cost))
                self.compare_numbers(ast.LtE(), done, self.number(Known(launching.most)))
            self.words.emit("native", kernel, start, self.number(work).at)
            if not launching.again and not self.words.committed:
                self.words.emit("commit")
                self.words.committed = True
            return
        blocks, threads, early = (self.object_of(d) for d in details)
        columns, rows, width, height = (blocks, 1, threads, 1) if isinstance(blocks, int) else blocks
        grid = self.words.region(9)
        attributes = launching.early if early else 0
        self.words.frame[grid : grid + 9] = [columns, rows, 1, width, height, 1, 0, attributes, int(attributes != 0)]
        self.words.emit("copy", grid + 6, self.number(self.named("stream")).at)
        blocks, threads = columns * rows, width * height
        failed = self.words.constant(lambda status: raised(launching.failed, number, status, blocks, threads))
        self.words.committed = True
        self.words.emit("launch", kernel, grid, start, len(parameters), launching.address, failed)

    def need_one_thread(self, iterations: int) -> None:
        """Leave the call where other threads can help with a launch."""
        launching = self.launching
        assert launching is not None
        if iterations > launching.most_of_one or not launching.alone():
            raise NotNative("iterations for several threads")
        if not self.asked:
            self.words.emit("true", self.call(Known(launching.alone), []).at)
            self.asked = True

    def parameter(self, place: int, value: Value | Known, word: str) -> None:
        """Put a parameter into a word, which is as `Parameters.pack` leaves it."""
        number = self.scalars[value.at] if isinstance(value, Value) and value.at in self.scalars else self.number(value)
        if word in ("f32", "f64"):
            number = self.to_float(number)
        elif number.kind == "float" or word[0] not in "piu":
            raise NotNative(f"a parameter of type {word}")
        self.words.emit("float_to_single" if word == "f32" else "copy", place, number.at)


def raised(function: Callable[..., Any], *arguments: Any) -> Exception:
    """What a function raises."""
    try:
        function(*arguments)
    except PytocuError as error:
        return error.with_traceback(None)
    raise InternalError("nothing was raised")


_OPPOSITES = {ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt}
_KNOWN_OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}


def _named(node: ast.expr) -> str:
    """How a value is named where it stands again."""
    return ast.unparse(node.target if isinstance(node, ast.NamedExpr) else node)


def body_of(source: str) -> list[ast.stmt]:
    """The statements of the function `run` that `bind` makes."""
    (bind,) = (s for s in ast.parse(source).body if isinstance(s, ast.FunctionDef) and s.name == "bind")
    (run,) = (s for s in bind.body if isinstance(s, ast.FunctionDef))
    return run.body


def names_of(run: FunctionType) -> Mapping[str, Any]:
    """The globals of a function, and what it has of the function around it."""
    cells = zip(run.__code__.co_freevars, run.__closure__ or (), strict=True)
    return {**run.__globals__, **{name: cell.cell_contents for name, cell in cells}}
