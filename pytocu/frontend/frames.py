"""The names of a function while it is read: scopes as Python has them, late binding included."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable, MutableMapping, Sequence
from functools import lru_cache
from typing import Any

from pytocu.deferred import Deferred
from pytocu.errors import CompileError, Loc, UndefinedNameError, UnsupportedError, closest, raised
from pytocu.frontend.objects import capture_name
from pytocu.frontend.source import FunctionNode, node_loc
from pytocu.frontend.storage import HandOn
from pytocu.frontend.values import Context, MaybeBound, Members, Steps, called
from pytocu.guards import MISSING, read_closure, read_global
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike
from pytocu.record import Mutable, Record

_bound_value = Deferred("pytocu.frontend.unbound", "bound_value")
_refuse_again = Deferred("pytocu.frontend.once", "refuse_again")

BREAK = object()
CONTINUE = object()

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Returned:
    """A return statement was reached, or the value of an expression; `what` names that."""

    __slots__ = ("loc", "value", "what")

    def __init__(self, value: Any, loc: Loc | None = None, what: str = ""):
        self.value, self.loc, self.what = value, loc, what


Flag = bool | Value
"""A truth value known now, or a scalar of run time."""


class Flow(Record):
    """How a piece of the program ends.

    Attributes
    ----------
    broke : bool or Value
        Whether by leaving the loop around it.
    returned : bool or Value
        Whether by leaving the function, with `value`.
    value : Any
    loc : Loc or None
        Of a statement that returns it.
    what : str
        The expression of which it is the value, behind which the function goes on; empty where the function is left.
    """

    broke: Flag = False
    returned: Flag = False
    value: Any = None
    loc: Loc | None = None
    what: str = ""

    @property
    def static(self) -> bool:
        """Whether it is known now."""
        return isinstance(self.broke, bool) and isinstance(self.returned, bool)

    def signal(self) -> Any:
        """As :func:`pytocu.frontend.statements.run_block` gives it."""
        if not self.static:
            return self
        return Returned(self.value, self.loc, self.what) if self.returned else BREAK if self.broke else None


def flow_of(signal: Any) -> Flow:
    """The flow behind a signal."""
    if isinstance(signal, Flow):
        return signal
    if isinstance(signal, Returned):
        return Flow(returned=True, value=signal.value, loc=signal.loc, what=signal.what)
    return Flow(broke=signal is BREAK)


class Shown(Record):
    """A value of run time in the text of an exception.

    Attributes
    ----------
    form : str
        What makes it of numbers, as `pytocu.sentences` says it, with ``@`` for each of the `values`.
    values : tuple of Value
        Scalars.
    how : str
        What stands behind that in a field; it may have marks.
    refused : CompileError or None
        Why a run does not show it; the values are not scalars then.
    """

    __pytocu_plain__ = True

    form: str
    values: tuple[Value, ...]
    how: str = ""
    refused: CompileError | None = None


class Failing(Mutable):
    """What is returned where a vectorized function raises by data: nothing, and the exception is required not to be.

    The sentence is a template of `str.format`, with marks for the values of run time that are `shown`, or ``{2}`` and so on for
    the `lengths` of the call.  The `parts` of it besides the sentence are what :func:`pytocu.errors.told` gives.
    """

    __pytocu_plain__ = True

    error: str
    sentence: str
    loc: Loc
    shown: tuple[Shown, ...] = ()
    parts: tuple[Any, ...] = ()
    lengths: tuple[DimLike, ...] = ()


class Raised(Exception):
    """The function raises an exception where the program stands: at any call, or if a branch of run time comes here.

    Attributes
    ----------
    error : CompileError
        What the call raises in the first case.
    failing : Failing or None
        The same in the second; None where only Python can make the exception.
    stated : bool
        Whether by a ``raise`` or an ``assert``; otherwise by what a statement does.
    written : bool
        Whether it is one of several, of which a run chooses: instructions that raise them are written, and the program
        comes to nothing behind these.
    made : Exception or None
        The exception itself, where it is known now.
    at : Loc or None
        Where it is raised, if not where it was raised first.
    """

    def __init__(
        self,
        error: CompileError,
        failing: Failing | None,
        stated: bool = True,
        written: bool = False,
        made: Exception | None = None,
        at: Loc | None = None,
    ):
        super().__init__(error)
        self.error, self.failing, self.stated, self.written = error, failing, stated, written
        self.made, self.at = made, at

    @property
    def place(self) -> Loc | None:
        """Where the program raises it."""
        return self.error.loc if self.at is None else self.at


class Unset:
    """What a name holds that has no one value: a loop or a branch of run time may or may not have bound it.

    With a `key` it is what the last step of a loop bound, which the loop hands on when the function is read again with this
    key among those in `Context.handed`.  With `types` it is what a branch leaves: those of each part on both sides.
    """

    __pytocu_plain__ = True
    __slots__ = ("help", "key", "message", "types")

    def __init__(self, message: str, help: str, key: Any = None, types: Sequence[tuple[Any, Any]] = ()):
        self.message, self.help, self.key, self.types = message, help, key, types


class Late:
    """What a loop that may have no step hands on of a name that it first binds.

    Attributes
    ----------
    read : callable
        ``read(context, sentence)`` gives the value and requires that there was a step.  With a sentence it stands before the
        place where the name is read, if it is, and what is said is no error of Python's.
    """

    __pytocu_plain__ = True
    __slots__ = ("read",)

    def __init__(self, read: Callable[[Context, str], Any]):
        self.read = read


_MARK = "\ue000(\\d+)\ue001"
"""What stands in the text of an exception for a value of run time: characters for private use."""


def mark(number: int) -> str:
    """The mark of a value of run time in a text."""
    return f"\ue000{number}\ue001"


def with_marks(text: str, put: Callable[[int], str]) -> str:
    """A text with something else for each mark, by its number."""
    return re.sub(_MARK, lambda found: put(int(found[1])), text)


def is_marked(text: str) -> bool:
    """Whether a text shows values of run time."""
    return re.search(_MARK, text) is not None


class Text:
    """A text that shows values of run time, which only an exception may say.

    Attributes
    ----------
    text : str
        With marks for them.
    shown : sequence of Shown
    error : CompileError
        What is raised where anything else asks for the text.
    """

    __pytocu_plain__ = True
    __slots__ = ("error", "shown", "text")

    def __init__(self, text: str, shown: Sequence[Shown], error: CompileError):
        self.text, self.shown, self.error = text, shown, error

    def said(self, context: Context) -> str:
        """The text in an exception."""
        if context.in_message is None:
            raise self.error
        first = len(context.in_message)
        moved = lambda text: with_marks(text, lambda number: mark(first + number))  # noqa: E731
        context.in_message.extend(one._replace(how=moved(one.how)) for one in self.shown)
        return moved(self.text)


def no_step(name: str) -> str:
    """What is said where it is not known whether the name is read."""
    return f"{name} is bound in a loop only, which had no step: assign it before the loop"


def line_made(value: Any) -> str:
    """The line that makes a value, for messages; empty where it is a parameter or no value of the IR."""
    inst = getattr(value, "inst", None)
    return f" (line {inst.loc.line})" if inst is not None and inst.loc.line else ""


class Scope(Record):
    """What a function's statements say about names; `node` is the function, where it is one."""

    names: frozenset[str]
    globals: frozenset[str] = frozenset()
    nonlocals: frozenset[str] = frozenset()
    node: FunctionNode | None = None


class Frame:
    """The names of one function, or of one comprehension, while it is read.

    Parameters
    ----------
    context : Context
    function : types.FunctionType
        Whose globals and closure names outside `parent` come from.
    scope : Scope
    locals : dict
        Abstract values by name.
    file, name : str
        For locations.
    caller : Loc or None
        Where the function was called, when it is inlined.
    parent : Frame or None
        The frame around a nested function or a comprehension.
    comprehension : bool
        Assignment expressions pass through to the parent.

    Attributes
    ----------
    given : tuple
        What its names hold at first: arguments, which the caller may hold, too.
    """

    __slots__ = ("caller", "comprehension", "context", "file", "function", "given", "locals", "name", "parent", "scope")

    def __init__(
        self,
        context: Context,
        function: Any,
        scope: Scope,
        locals: MutableMapping[str, Any],
        file: str,
        name: str,
        caller: Loc | None,
        parent: Frame | None = None,
        comprehension: bool = False,
    ):
        self.context, self.function, self.scope, self.locals = context, function, scope, locals
        self.file, self.name, self.caller = file, name, caller
        self.parent, self.comprehension = parent, comprehension
        self.given = tuple(locals.values())

    def loc(self, node: ast.AST) -> Loc:
        """The place of a syntax node of this function."""
        return node_loc(node, self.file, self.name, self.caller)

    def inside(self, names: frozenset[str]) -> Frame:
        """The frame of a comprehension whose loops bind `names`."""
        scope = Scope(names)
        return Frame(self.context, self.function, scope, {}, self.file, self.name, self.caller, self, comprehension=True)


@called("function")
class LocalFunction:
    """A function or lambda defined inside the function being read."""

    __pytocu_plain__ = True
    __slots__ = ("defaults", "frame", "node")

    def __init__(self, node: FunctionNode, frame: Frame, defaults: dict[str, Any]):
        self.node, self.frame, self.defaults = node, frame, defaults

    @property
    def __name__(self) -> str:
        return getattr(self.node, "name", "<lambda>")

    def __repr__(self) -> str:
        return f"<function {qualified_name(self)} at {id(self):#x}>"


def qualified_name(function: Any) -> str:
    """What Python calls a function in its own errors."""
    if isinstance(function, LocalFunction):
        return f"{qualified_name(function.frame.function)}.<locals>.{function.__name__}"
    return function.__qualname__


class Partial:
    """``functools.partial`` made inside the function being read."""

    __pytocu_plain__ = True
    __slots__ = ("args", "function", "kwargs")

    def __init__(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]):
        self.function, self.args, self.kwargs = function, args, kwargs


@lru_cache(maxsize=1024)
def scope_of(node: FunctionNode) -> Scope:
    """The names a function or lambda binds, and those it declares global or nonlocal."""
    arguments = node.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    names = {a.arg for a in (*every, arguments.vararg, arguments.kwarg) if a is not None}
    declared_global: set[str] = set()
    declared_nonlocal: set[str] = set()
    body: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else list(node.body)
    stack: list[tuple[ast.AST, bool]] = [(child, False) for child in body]
    while stack:
        child, in_comprehension = stack.pop()
        match child:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
                continue
            case ast.Lambda():
                continue
            case ast.Global(names=listed):
                declared_global.update(listed)
            case ast.Nonlocal(names=listed):
                declared_nonlocal.update(listed)
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                names.update(a.asname or a.name.split(".")[0] for a in aliases)
            case ast.NamedExpr(target=ast.Name(id=name)):
                names.add(name)
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) if not in_comprehension:
                names.add(name)
            case ast.ExceptHandler(name=str(name)):
                names.add(name)
        within = in_comprehension or isinstance(child, _COMPREHENSIONS)
        stack.extend((grandchild, within) for grandchild in ast.iter_child_nodes(child))
    return Scope(
        frozenset(names - declared_global - declared_nonlocal), frozenset(declared_global), frozenset(declared_nonlocal), node
    )


def lookup(frame: Frame, name: str) -> Any:
    """A name: local, of an enclosing function, captured, global or builtin.

    Raises
    ------
    UndefinedNameError
        With the closest known name.
    UnsupportedError
        What the name holds depends on a loop or a branch of run time.
    """
    context = frame.context
    scope: Frame | None = frame
    while scope is not None:
        if name in scope.locals:
            found = scope.locals[name]
            if isinstance(found, Late):
                return found.read(context, "")
            if isinstance(found, Unset) and found.key is not None:
                raise HandOn(found.key)
            if isinstance(found, Unset):
                raise UnsupportedError(found.message, context.loc, found.help)
            if isinstance(found, MaybeBound):
                return _bound_value(context, found, (scope, name), _unbound(frame, scope, name))
            if isinstance(found, Text):
                return found.said(context)
            if (isinstance(found, Members) and not found.sized) or (isinstance(found, Steps) and not found.plain):
                _refuse_again(context, scope.scope.node, name)
            return found.now(context) if isinstance(found, Members) else found
        if name in scope.scope.names:
            context.missed.append((scope, name))
            raise raised(_unbound(frame, scope, name), context.loc, BIND_IT)
        if name in scope.scope.globals:
            break
        scope = scope.parent
    function = frame.function
    free = function.__code__.co_freevars
    if name in free and scope is None:
        position = free.index(name)
        value = read_closure(function, position)
        if value is not MISSING:
            return capture_name(context, name, value, function, ("closure", position))
        message = f"cannot access free variable '{name}' where it is not associated with a value in enclosing scope"
        raise UndefinedNameError(message, context.loc, "assign it before the call")
    value = read_global(function, name)
    if value is not MISSING:
        return capture_name(context, name, value, function, ("global", name))
    known: set[str] = {*free, *function.__globals__, *dir(builtins)}
    while frame.parent is not None:
        known.update(frame.locals)
        frame = frame.parent
    close = closest(name, sorted(known | frame.locals.keys()))
    raise UndefinedNameError(f"name '{name}' is not defined", context.loc, f"did you mean {close}?" if close else None)


BIND_IT = "assign it on every path before this line"
"""What to do about a name that is read unbound."""


def _unbound(frame: Frame, owner: Frame, name: str) -> NameError:
    """What Python raises where a name of a function is read before it is bound."""
    while frame.comprehension and frame.parent is not None and frame is not owner:
        frame = frame.parent
    if frame is owner:
        return UnboundLocalError(f"cannot access local variable '{name}' where it is not associated with a value")
    return NameError(f"cannot access free variable '{name}' where it is not associated with a value in enclosing scope")


def owner_of(frame: Frame, name: str, through_comprehensions: bool = False) -> Frame:
    """The frame in which an assignment to a name binds it.

    Raises
    ------
    UnsupportedError
        The name belongs to the module or to a function that is not being read.
    """
    while through_comprehensions and frame.comprehension and frame.parent is not None:
        frame = frame.parent
    if name in frame.scope.globals:
        raise UnsupportedError(
            f"assignment to the global {name} is not compiled",
            frame.context.loc,
            "return the value and assign it outside the function",
        )
    if name not in frame.scope.nonlocals:
        return frame
    outer = frame.parent
    while outer is not None and name not in outer.scope.names:
        outer = outer.parent
    if outer is None:
        raise UnsupportedError(
            f"assignment to {name}, a variable of the function around this one, is not compiled",
            frame.context.loc,
            "return the value and assign it outside",
        )
    return outer


def mangled(frame: Frame, name: str) -> str:
    """The attribute name Python uses for ``__name`` inside a class."""
    if not name.startswith("__") or name.endswith("__"):
        return name
    parts = qualified_name(frame.function).split(".<locals>")[-1].split(".")
    owner = parts[-2].lstrip("_") if len(parts) > 1 else ""
    return f"_{owner}{name}" if owner else name
