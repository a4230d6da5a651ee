"""Names whose value is read more than once: what an iterator, which gives its members once, must not be."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterable, Sequence

from pytocu.errors import UnsupportedError
from pytocu.frontend.frames import FunctionNode
from pytocu.frontend.values import Context, Members, Steps

_Reads = dict[str, int]
"""How often a name was read since it was bound, as far as one way through the function goes."""


def refuse_again(context: Context, node: FunctionNode | None, name: str) -> None:
    """Refuse a name that holds an iterator and is read again.

    Python goes on where the first reading ended, mostly with nothing; how far that was is not followed.

    Raises
    ------
    UnsupportedError
        The function reads the name a second time.
    """
    if node is not None and name in _read_again(node):
        raise UnsupportedError(
            f"{name} is an iterator, which gives its members once, and it is read more than once",
            context.loc,
            f"make a list where it is made: {name} = list(...)",
        )


def refuse_held_again(context: Context, value: Members | Steps) -> None:
    """Refuse an iterator that a list, dict or object holds and that was read there, or in another place of it, before.

    Raises
    ------
    UnsupportedError
        It is read a second time, as ``zip(*[iter(x)] * 2)`` does, or in a loop of run time, whose body is read once for all
        steps: it may be made before the loop.
    """
    if value.plain if isinstance(value, Steps) else value.sized:
        return
    in_steps = any(not loop.written_out for loop in context.growing)
    if in_steps or id(value) in context.read_held:
        text = "an iterator gives its members once, and one that stands in a list or an object is read more than once"
        help = "make a list where it is made: list(...); parts of it are taken with slices, as in zip(x[0::2], x[1::2])"
        raise UnsupportedError(text, context.loc, help)
    context.read_held[id(value)] = value


@functools.lru_cache(maxsize=64)
def _read_again(node: FunctionNode) -> frozenset[str]:
    finder = _Finder()
    body = [node.body] if isinstance(node, ast.Lambda) else node.body
    finder.each(body, {})
    return frozenset(finder.found)


class _Finder:
    """Goes through a function as Python does, both sides of each branch and each loop's body for two steps."""

    def __init__(self) -> None:
        self.found: set[str] = set()

    def each(self, nodes: Iterable[ast.AST | None], reads: _Reads) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node, reads)

    def visit(self, node: ast.AST, reads: _Reads) -> None:
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                reads[name] = reads.get(name, 0) + 1
                if reads[name] > 1:
                    self.found.add(name)
            case ast.Name(id=name):
                reads[name] = 0
            case ast.Assign(targets=targets, value=value):
                self.each([value, *targets], reads)
            case ast.AnnAssign(target=target, value=value) | ast.NamedExpr(target=target, value=value):
                self.each([value, target], reads)
            case ast.AugAssign(target=ast.Name(id=name) as target, value=value):
                self.each([ast.Name(name, ast.Load()), value, target], reads)
            case ast.If(test=test, body=body, orelse=orelse):
                self.visit(test, reads)
                self._ways(reads, *(lambda r, side=side: self._side(side, r) for side in (body, orelse)))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self.visit(test, reads)
                self._ways(reads, lambda r: self.visit(body, r), lambda r: self.visit(orelse, r))
            case ast.For(target=target, iter=over, body=body, orelse=orelse):
                self.visit(over, reads)
                self._steps(reads, [target, *body])
                self.each(orelse, reads)
            case ast.While(test=test, body=body, orelse=orelse):
                self._steps(reads, [test, *body])
                self.each(orelse, reads)
            case ast.ListComp(generators=parts) | ast.SetComp(generators=parts) | ast.GeneratorExp(generators=parts):
                self._comprehension(reads, parts, [node.elt])
            case ast.DictComp(generators=parts, key=key, value=value):
                self._comprehension(reads, parts, [key, value])
            case ast.Lambda(body=body):
                # It may be called any number of times.
                self._steps(reads, [body])
            case ast.FunctionDef(body=body):
                self._steps(reads, body)
            case _:
                self.each(ast.iter_child_nodes(node), reads)

    def _side(self, body: Sequence[ast.stmt], reads: _Reads) -> None:
        self.each(body, reads)
        if body and isinstance(body[-1], ast.Return):
            # Nothing comes behind it; behind a raise an except clause may.
            reads.clear()

    def _steps(self, reads: _Reads, body: Iterable[ast.AST]) -> None:
        nodes = [*body]
        self._ways(reads, lambda r: self.each([*nodes, *nodes], r), lambda r: None)

    def _comprehension(self, reads: _Reads, parts: list[ast.comprehension], made: list[ast.expr]) -> None:
        first, *others = parts
        self.visit(first.iter, reads)
        inner: list[ast.AST] = [first.target, *first.ifs]
        for part in others:
            inner += [part.iter, part.target, *part.ifs]
        self._steps(reads, [*inner, *made])

    def _ways(self, reads: _Reads, *ways: Callable[[_Reads], None]) -> None:
        """Goes each of the ways, behind which a name was read as often as on that which read it most."""
        behind: list[_Reads] = []
        for way in ways:
            behind.append(dict(reads))
            way(behind[-1])
        for name in {name for one in behind for name in one}:
            reads[name] = max(one.get(name, 0) for one in behind)
