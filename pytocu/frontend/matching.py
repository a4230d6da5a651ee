"""``match`` statements as the branches that they are: ``case 0 | 1 if n > 2:`` is ``if (x == 0 or x == 1) and n > 2:``.

In: the syntax tree of a function.  Out: one without the ``match`` statements whose patterns are values, names, alternatives,
sequences and classes; places are those of the patterns.  Others stay, and are refused where they are read.
"""

from __future__ import annotations

import ast
from typing import Any, NamedTuple, TypeVar

_OF_THEMSELVES = frozenset(
    {"bool", "bytearray", "bytes", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple"}
)  # fmt: skip
"""Classes of which ``int(x)`` captures the subject itself."""

Node = TypeVar("Node", bound=ast.AST)


class _Unknown(Exception):
    """A pattern that stays."""


class _Matched(NamedTuple):
    """What has to be true for a pattern to match, and which names are then bound to what."""

    tests: list[ast.expr]
    bound: dict[str, ast.expr]


def without_match(node: Node) -> Node:
    """The tree, changed in place."""
    return _Written().visit(node)


class _Written(ast.NodeTransformer):
    def visit_Match(self, node: ast.Match) -> Any:
        self.generic_visit(node)
        subject, before = node.subject, list[ast.stmt]()
        if not _is_plain(subject):
            name = f"match_{node.lineno}"
            before.append(_at(ast.Assign([ast.Name(name, ast.Store())], subject), node.subject))
            subject = ast.Name(name, ast.Load())
        try:
            matched = [_match(case.pattern, subject) for case in node.cases]
        except _Unknown:
            return node
        otherwise: list[ast.stmt] = []
        for case, (tests, bound) in zip(reversed(node.cases), reversed(matched), strict=True):
            body = [*_assigned(bound, case.pattern), *case.body]
            tests = [*tests, *([_Named(bound).visit(case.guard)] if case.guard is not None else [])]
            if not tests:
                otherwise = body
                continue
            test = tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
            otherwise = [_at(ast.If(test, body, otherwise), case.pattern)]
        return [*before, *otherwise] or ast.copy_location(ast.Pass(), node)


def _is_plain(subject: ast.expr) -> bool:
    """Whether reading it several times is reading it once."""
    if isinstance(subject, ast.Tuple):
        return all(map(_is_plain, subject.elts))
    return isinstance(subject, ast.Name | ast.Constant)


class _Named(ast.NodeTransformer):
    """What a guard says of names that the pattern binds."""

    def __init__(self, bound: dict[str, ast.expr]):
        self._bound = bound

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._bound.get(node.id, node)


def _assigned(bound: dict[str, ast.expr], pattern: ast.pattern) -> list[ast.stmt]:
    """The assignment of all names at once: one of them may be the subject's."""
    if not bound:
        return []
    targets: list[ast.expr] = [ast.Name(name, ast.Store()) for name in bound]
    target = targets[0] if len(targets) == 1 else ast.Tuple(targets, ast.Store())
    value = next(iter(bound.values())) if len(targets) == 1 else ast.Tuple([*bound.values()], ast.Load())
    return [_at(ast.Assign([target], value), pattern)]


def _match(pattern: ast.pattern, subject: ast.expr) -> _Matched:
    """What a pattern says of a subject.

    Raises
    ------
    _Unknown
        It is a mapping, a class with positions, or alternatives that bind names.
    """
    match pattern:
        case ast.MatchValue(value=value):
            return _Matched([_at(ast.Compare(subject, [ast.Eq()], [value]), pattern)], {})
        case ast.MatchSingleton(value=value):
            return _Matched([_at(ast.Compare(subject, [ast.Is()], [ast.Constant(value)]), pattern)], {})
        case ast.MatchAs(pattern=inner, name=name):
            tests, bound = _Matched([], {}) if inner is None else _match(inner, subject)
            return _Matched(tests, bound if name is None else {**bound, name: subject})
        case ast.MatchOr(patterns=patterns):
            sides = [_match(one, subject) for one in patterns]
            if any(side.bound for side in sides):
                raise _Unknown
            if not all(side.tests for side in sides):
                return _Matched([], {})
            made = [side.tests[0] if len(side.tests) == 1 else ast.BoolOp(ast.And(), side.tests) for side in sides]
            return _Matched([_at(ast.BoolOp(ast.Or(), made), pattern)], {})
        case ast.MatchSequence(patterns=patterns):
            return _sequence(pattern, patterns, subject)
        case ast.MatchClass(cls=cls, patterns=patterns, kwd_attrs=names, kwd_patterns=others):
            if patterns and (len(patterns) > 1 or not isinstance(cls, ast.Name) or cls.id not in _OF_THEMSELVES):
                raise _Unknown
            attributes = [ast.Attribute(subject, name, ast.Load()) for name in names]
            parts = [*zip(patterns, [subject], strict=False), *zip(others, attributes, strict=True)]
            return _all([_at(_call(isinstance, subject, cls), pattern)], parts)
    raise _Unknown


def _sequence(pattern: ast.pattern, patterns: list[ast.pattern], subject: ast.expr) -> _Matched:
    """Of a list or tuple with a member for each pattern; one with a star takes those that are left."""
    stars = [number for number, one in enumerate(patterns) if isinstance(one, ast.MatchStar)]
    if isinstance(subject, ast.Tuple) and not stars:
        fits = len(subject.elts) == len(patterns)
        return _all([], [*zip(patterns, subject.elts, strict=True)]) if fits else _Matched([ast.Constant(False)], {})
    count, behind = len(patterns) - len(stars), len(patterns) - stars[0] - 1 if stars else 0
    both: Any = (list, tuple)
    kinds = ast.Constant(both)
    length = ast.Compare(_call(len, subject), [ast.GtE() if stars else ast.Eq()], [ast.Constant(count)])
    tests = [_at(_call(isinstance, subject, kinds), pattern), _at(length, pattern)]
    parts: list[tuple[ast.pattern, ast.expr]] = []
    for number, one in enumerate(patterns):
        if isinstance(one, ast.MatchStar):
            end = ast.Constant(-behind) if behind else None
            rest = ast.Subscript(subject, ast.Slice(ast.Constant(number), end), ast.Load())
            parts.append((ast.copy_location(ast.MatchAs(None, one.name), one), _call(list, rest)))
        else:
            at = number if not stars or number < stars[0] else number - len(patterns)
            parts.append((one, ast.Subscript(subject, ast.Constant(at), ast.Load())))
    return _all(tests, parts)


def _all(tests: list[ast.expr], parts: list[tuple[ast.pattern, ast.expr]]) -> _Matched:
    """What is said of all parts of a subject."""
    bound: dict[str, ast.expr] = {}
    for pattern, part in parts:
        more, names = _match(pattern, _at(part, pattern))
        tests = [*tests, *more]
        bound |= names
    return _Matched(tests, bound)


def _call(function: Any, *arguments: ast.expr) -> ast.Call:
    # The builtin itself: the program may have another one of that name.
    return ast.Call(ast.Constant(function), [*arguments], [])


def _at(made: Node, place: ast.AST) -> Node:
    """A node, and those of it that have no place, where another one is."""
    for part in ast.walk(made):
        if isinstance(part, ast.expr | ast.stmt) and not hasattr(part, "lineno"):
            ast.copy_location(part, place)
    return made
