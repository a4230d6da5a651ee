"""The syntax tree of a function: files, notebooks, nested functions, lambdas on one line.

Trees keep the line and column numbers of the user's file, so a location needs no
translation.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import types
from functools import lru_cache

from pytocu.errors import CompileError, Loc, UnsupportedError

FunctionNode = ast.FunctionDef | ast.Lambda


def function_loc(function: types.FunctionType) -> Loc:
    """Where a function is defined, for errors about the function as a whole."""
    code = function.__code__
    return Loc(code.co_filename, code.co_firstlineno, 1, 0, function.__name__)


def function_node(function: types.FunctionType) -> FunctionNode:
    """The ``def`` or ``lambda`` a function was made from.

    Raises
    ------
    CompileError
        There is no source text (built by ``exec`` or typed into a plain interpreter), or it
        changed since the function was made.
    """
    return _node_of_code(function.__code__)


@lru_cache(maxsize=1024)
def _node_of_code(code: types.CodeType) -> FunctionNode:
    name = code.co_name
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        loc = Loc(code.co_filename, code.co_firstlineno, 1, 0, name)
        raise UnsupportedError("generators and coroutines are not compiled", loc, "return the arrays instead of yielding them")
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename)
    if not lines:
        raise CompileError(
            f"the source of {name} is not available (file {code.co_filename!r})",
            help="define the function in a file or a notebook cell; pytocu reads its source",
        )
    node = _find_lambda(code, lines) if name == "<lambda>" else _find_def(code, lines)
    if node is None:
        raise CompileError(
            f"the source of {name} could not be found at line {code.co_firstlineno} of {code.co_filename!r}",
            help="the file changed since it was imported: import it again",
        )
    return node


def _find_def(code: types.CodeType, lines: list[str]) -> ast.FunctionDef | None:
    start = code.co_firstlineno - 1
    if start >= len(lines):
        return None
    block = inspect.getblock(lines[start:])
    indented = block[0][:1].isspace()
    # An enclosing `if` keeps the columns of a nested function; dedenting would move them.
    text = "".join(["if True:\n", *block]) if indented else "".join(block)
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return None
    ast.increment_lineno(tree, start - (1 if indented else 0))
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
    # The body's position tells several lambdas of one line apart.
    places = {(p[0], p[2]) for p in code.co_positions() if p[0] is not None and p[2] is not None}
    best: ast.Lambda | None = None
    for node in ast.walk(tree):
        if not isinstance(node, ast.Lambda):
            continue
        parameters = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        if tuple(a.arg for a in parameters) != code.co_varnames[: len(parameters)]:
            continue
        starts = {(n.lineno, n.col_offset) for n in ast.walk(node.body) if isinstance(n, ast.expr)}
        inside = {p for p in places if p in starts}
        if (node.body.lineno, node.body.col_offset) in inside or (inside and best is None):
            best = node
    return best


@lru_cache(maxsize=16)
def _module_tree(file: str, lines: tuple[str, ...]) -> ast.Module | None:
    try:
        return ast.parse("".join(lines))
    except SyntaxError:
        return None


def node_loc(node: ast.AST, file: str, function: str, caller: Loc | None) -> Loc:
    """The place of a syntax node."""
    line = getattr(node, "lineno", 0)
    column = getattr(node, "col_offset", 0) + 1
    end_line = getattr(node, "end_lineno", line)
    end = getattr(node, "end_col_offset", 0) + 1 if end_line == line else 0
    return Loc(file, line, column, end, function, caller)
