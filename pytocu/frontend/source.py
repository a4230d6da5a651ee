"""The syntax tree of a function: files, notebooks, nested functions, lambdas on one line.

Trees keep the line and column numbers of the user's file, so a location needs no
translation.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import types
from collections.abc import Callable
from functools import lru_cache

from pytocu.deferred import Deferred
from pytocu.errors import CompileError, Loc, UnsupportedError

_without_match = Deferred("pytocu.frontend.matching", "without_match")

FunctionNode = ast.FunctionDef | ast.Lambda


def function_loc(function: types.FunctionType) -> Loc:
    """Where a function is defined, for errors about the function as a whole.

    The line of the ``def`` with its name where there is source, else the first line of the code.
    """
    code = function.__code__
    try:
        node = function_node(function)
    except CompileError:
        return Loc(code.co_filename, code.co_firstlineno, 1, 0, function.__name__)
    column = node.col_offset + (len("def ") if isinstance(node, ast.FunctionDef) else 0)
    length = len(getattr(node, "name", "lambda").encode())
    return _span(code.co_filename, node.lineno, column, column + length, function.__name__, None)


def parameter_loc(function: types.FunctionType, name: str) -> Loc:
    """Where a function names a parameter, for errors about the argument."""
    try:
        node = function_node(function)
    except CompileError:
        return function_loc(function)
    arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    found = next((a for a in arguments if a.arg == name), None)
    return function_loc(function) if found is None else node_loc(found, function.__code__.co_filename, function.__name__, None)


def function_node(function: types.FunctionType) -> FunctionNode:
    """The ``def`` or ``lambda`` a function was made from.

    Raises
    ------
    CompileError
        There is no source text (built by ``exec`` or typed into a plain interpreter), or it
        changed since the function was made.
    """
    # The same code in two files is equal.
    return _node_of_code(function.__code__, function.__code__.co_filename)


@lru_cache(maxsize=1024)
def _node_of_code(code: types.CodeType, file: str) -> FunctionNode:
    name = code.co_name
    loc = Loc(file, code.co_firstlineno, 1, 0, name)
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        raise UnsupportedError(
            f"{name} is a generator or a coroutine, which is not compiled",
            loc,
            "return the arrays instead of yielding or awaiting them",
        )
    linecache.checkcache(file)
    lines = linecache.getlines(file)
    node = None
    if lines:
        node = _find_lambda(code, lines) if name == "<lambda>" else _find_def(code, lines)
    if node is not None and _agrees(node, code) and (file != _WITHOUT_A_FILE or _holds(lines, code)):
        return _without_match(node) if any(isinstance(part, ast.Match) for part in ast.walk(node)) else node
    if not lines or file == _WITHOUT_A_FILE:
        raise CompileError(
            f"the source of {name} is not available (file {file!r})",
            help="define the function in a file or a notebook cell; pytocu reads its source",
        )
    raise CompileError(
        f"the source of {name} could not be found at line {code.co_firstlineno} of {file!r}",
        help="the file changed since it was imported: import it again",
    )


_WITHOUT_A_FILE = "<string>"
"""What text is called that `exec` is given. From Python 3.13 on, the text of ``python -c`` is found by this name."""


def _holds(lines: list[str], code: types.CodeType) -> bool:
    """Whether compiling the text makes this very code."""
    stack = [compile("".join(lines), code.co_filename, "exec", dont_inherit=True)]
    while stack:
        made = stack.pop()
        if made == code:
            return True
        stack.extend(c for c in made.co_consts if isinstance(c, types.CodeType))
    return False


def _agrees(node: FunctionNode, code: types.CodeType) -> bool:
    """Whether the text still has the parameters and outer names the code was made from."""
    parameters = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | {"__class__"}
    names |= {name for n in ast.walk(node) if isinstance(n, (ast.Nonlocal, ast.Global)) for name in n.names}
    same_parameters = tuple(a.arg for a in parameters) == code.co_varnames[: len(parameters)]
    return (
        same_parameters and len(parameters) == code.co_argcount + code.co_kwonlyargcount and names.issuperset(code.co_freevars)
    )


def _find_def(code: types.CodeType, lines: list[str]) -> ast.FunctionDef | None:
    start = code.co_firstlineno - 1
    if start >= len(lines):
        return None
    block = inspect.getblock(lines[start:])
    # Empty lines keep the line numbers, and an enclosing `if` the columns of a nested function.
    before = ["\n"] * start
    if block[0][:1].isspace() and before:
        before[-1] = "if True:\n"
    try:
        tree = ast.parse("".join([*before, *block]))
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            return node
        if isinstance(node, ast.AsyncFunctionDef) and node.name == code.co_name:
            return None
    return None


def _find_lambda(code: types.CodeType, lines: list[str]) -> ast.Lambda | None:
    tree = _module_tree(code.co_filename, tuple(lines))
    if tree is None:
        return None
    found = [n for n in ast.walk(tree) if isinstance(n, ast.Lambda) and n.lineno == code.co_firstlineno and _agrees(n, code)]
    if len(found) <= 1:
        return found[0] if found else None
    # The place of the body tells several lambdas of one line apart.
    places = {(line, end_line, column, end) for line, end_line, column, end in code.co_positions()}
    for node in found:
        body = node.body
        if (body.lineno, body.end_lineno, body.col_offset, body.end_col_offset) in places:
            return node
    return None


def parameter_names(node: FunctionNode) -> tuple[str, ...]:
    """The parameters of a function, none of them variadic."""
    return tuple(a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs))


@lru_cache(maxsize=16)
def _module_tree(file: str, lines: tuple[str, ...]) -> ast.Module | None:
    try:
        return ast.parse("".join(lines))
    except SyntaxError:
        return None


def node_loc(node: ast.AST, file: str, function: str, caller: Loc | None) -> Loc:
    """The place of a syntax node; of one on several lines, the part on the first."""
    line = getattr(node, "lineno", 0)
    several = getattr(node, "end_lineno", line) != line
    end = None if several else getattr(node, "end_col_offset", 0)
    return _span(file, line, getattr(node, "col_offset", 0), end, function, caller)


def _span(file: str, line: int, start: int, end: int | None, function: str, caller: Loc | None) -> Loc:
    """A place from the offsets of a syntax tree, which count bytes of UTF-8; a Loc counts characters."""
    text = linecache.getline(file, line).rstrip()
    if not text.isascii():
        encoded = text.encode()
        start = len(encoded[:start].decode(errors="ignore"))
        end = None if end is None else len(encoded[:end].decode(errors="ignore"))
    return Loc(file, line, start + 1, (len(text) if end is None else end) + 1, function, caller)


def is_current(function: types.FunctionType, digest: Callable[[types.CodeType], str]) -> bool:
    """Whether the text that is read is what the function was made from.

    Parameters
    ----------
    function : function
    digest : callable
        What is equal for two codes of one meaning.

    Examples
    --------
    >>> is_current(is_current, lambda code: code.co_code.hex())
    True
    """
    code = function.__code__
    wanted = digest(code)
    stack = [_module_code(code.co_filename, tuple(linecache.getlines(code.co_filename)))]
    while stack:
        found = stack.pop()
        if found is None:
            return False
        if found.co_name == code.co_name and digest(found) == wanted:
            return True
        stack.extend(c for c in found.co_consts if isinstance(c, types.CodeType))
    return False


@lru_cache(maxsize=16)
def _module_code(file: str, lines: tuple[str, ...]) -> types.CodeType | None:
    # The whole file: how a call is compiled depends on what the module imports.
    try:
        return compile("".join(lines), file, "exec", dont_inherit=True)
    except SyntaxError:
        return None
