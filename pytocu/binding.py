"""What Python says of arguments that a function does not take."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping, Sequence
from typing import Any


def binding_words(signature: inspect.Signature, args: Sequence[Any], kwargs: Collection[str] | Mapping[str, Any]) -> str:
    """What Python's ``TypeError`` says behind the function's name; nothing where the arguments are taken.

    Examples
    --------
    >>> binding_words(inspect.signature(lambda x, y: x), (1,), {})
    "missing 1 required positional argument: 'y'"
    >>> binding_words(inspect.signature(lambda x, y=1: x), (1, 2, 3), {})
    'takes from 1 to 2 positional arguments but 3 were given'
    """
    parameters = signature.parameters.values()
    places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    keywords = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
    by_name = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    any_name = any(p.kind is p.VAR_KEYWORD for p in parameters)
    filled = {p.name for p in places[: len(args)]}
    for name in kwargs:
        if name not in by_name:
            if any_name:
                continue
            hidden = [p.name for p in places if p.kind is p.POSITIONAL_ONLY and p.name in kwargs]
            if hidden:
                return f"got some positional-only arguments passed as keyword arguments: '{', '.join(hidden)}'"
            return f"got an unexpected keyword argument '{name}'"
        if name in filled:
            return f"got multiple values for argument '{name}'"
        filled.add(name)
    if len(args) > len(places) and not any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return _too_many(places, len(args), sum(p.name in kwargs for p in keywords))
    for kind, asked in (("positional", places), ("keyword-only", keywords)):
        names = [f"'{p.name}'" for p in asked if p.default is p.empty and p.name not in filled]
        if names:
            *first, last = names
            listed = f"{', '.join(first)}{',' * (len(first) > 1)} and {last}" if first else last
            return f"missing {len(names)} required {kind} argument{'s' * bool(first)}: {listed}"
    return ""


def _too_many(places: Sequence[inspect.Parameter], given: int, named: int) -> str:
    least = sum(p.default is p.empty for p in places)
    count = f"{least} to {len(places)}" if least < len(places) else f"{len(places)}"
    taken = f"takes {'from ' * (least < len(places))}{count} positional argument{'' if count == '1' else 's'}"
    if not named:
        return f"{taken} but {given} {'was' if given == 1 else 'were'} given"
    more = f" positional argument{'s' * (given != 1)} (and {named} keyword-only argument{'s' * (named != 1)})"
    return f"{taken} but {given}{more} were given"
