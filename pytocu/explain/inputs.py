"""The arguments of a call in a file: arrays as they are, Python's numbers with their kind beside the name.

A tuple, list, dict or object that holds arrays is the text of :mod:`pytocu.tree_text`, with the names of its parts.  Arrays
that share memory are one array of bytes, and where each of them lies in it.
"""

from __future__ import annotations

import ast
import inspect
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from pytocu.errors import PytocuError
from pytocu.explain.memories import part_of, shared_memories
from pytocu.guards import is_array_like
from pytocu.tree_text import Named, TreeTextError, literal_text, name_of, names_in, read_tree, tree_text
from pytocu.trees import by_name, part_names

_KINDS = {"bool": bool, "int": int, "float": float, "complex": complex}


_TREE, _MEMORY, _VIEW = "tree", "memory", "view"


def save_inputs(file: str, values: Mapping[str, Any], function: Any = None) -> tuple[str, ...]:
    """Write arguments by the names of their parameters.

    Parameters
    ----------
    file : str
        ``.npz``, which ``np.load`` reads too.
    values : mapping
        NumPy arrays, NumPy scalars and Python's numbers, and what holds arrays; device arrays are copied.
    function : function, optional
        In whose module classes are looked for.

    Returns
    -------
    tuple of str
        The names of what has no form in such a file.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "inputs.npz")
    ...     left = save_inputs(file, {"x": np.float32([1, 2]), "k": 3, "mode": "sum"})
    ...     load_inputs(file), left
    ({'x': array([1., 2.], dtype=float32), 'k': 3}, ('mode',))
    """
    made: dict[str, Any] = {}
    trees, parts, left = texts_of(values, function)
    made.update({f"{name}:{_TREE}": np.array(text) for name, text in trees.items()})
    # What is one array here is one there, also where the host has only a copy.
    copies = {id(value): _host_array(value) for value in parts.values()}
    arrays = {name: copies[id(v)] for name, v in parts.items() if isinstance(copies[id(v)], np.ndarray)}
    shared = shared_memories(arrays)
    for number, one in enumerate(shared):
        made[f"{number}:{_MEMORY}"] = one.memory
        made.update({f"{name}:{_VIEW}": np.array(repr((number, *view))) for name, view in one.views.items()})
    for name, value in parts.items():
        kind = type(value).__name__
        array = copies[id(value)]
        if any(name in one.views for one in shared):
            continue
        if _KINDS.get(kind) is type(value):
            # As text, because an int may be one that no array holds.
            made[f"{name}:{kind}"] = np.array(repr(value))
        elif array is not None:
            made[name] = array
        else:
            left.append(name)
    np.savez(file, **made)
    return tuple(left)


def texts_of(values: Mapping[str, Any], function: Any) -> tuple[dict[str, str], dict[str, Any], list[str]]:
    """Arguments that hold arrays as texts of the names of their parts, all that is none by name, and what has no text."""
    trees, parts = by_name(values)
    named = _names(function)
    texts: dict[str, str] = {}
    left: list[str] = []

    def leaf(part: str) -> str:
        value = parts[part]
        if _has_entry(value):
            return part
        return name_of(value, named) if callable(value) else literal_text(value)

    for name, tree in trees:
        if isinstance(tree, str):
            continue
        held = tuple(part_names(((name, tree),)))
        try:
            texts[name] = tree_text(tree, leaf, lambda kind: name_of(kind, named))
        except TreeTextError:
            left.append(name)
        for part in held:
            if name in left or not _has_entry(parts[part]):
                del parts[part]
    return texts, parts, left


def put_in(texts: Mapping[str, str], parts: Mapping[str, Any], named: Named) -> dict[str, Any]:
    """The arguments that :func:`texts_of` took apart.

    Raises
    ------
    TreeTextError
        A class or a part of one is missing.
    """
    left = dict(parts)

    def leaf(text: str, place: str) -> Any:
        if text in parts:
            left.pop(text, None)
            return parts[text]
        try:
            return ast.literal_eval(text)
        except (ValueError, SyntaxError):
            raise TreeTextError(f"{place}: nothing is saved as {text}") from None

    found = {name: read_tree(text, name, leaf, named) for name, text in texts.items()}
    return {**found, **left}


def _has_entry(value: Any) -> bool:
    """Whether a value is kept by its name, and not in the text of what holds it."""
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.kind in "biufc"
    return _KINDS.get(type(value).__name__) is type(value) or is_array_like(value)


def _names(function: Any) -> Named:
    return _nothing if function is None else names_in(inspect.unwrap(function))


def _nothing(name: str) -> Any:
    raise LookupError("")


def _host_array(value: Any) -> Any:
    """A NumPy array or scalar, or a copy of a device array; None for anything else."""
    if isinstance(value, np.ndarray | np.generic):
        return value if value.dtype.kind in "biufc" else None
    for copied in (
        lambda: value.detach().cpu().numpy(),
        lambda: value.copy_to_host(),
        lambda: value.get() if hasattr(value, "__cuda_array_interface__") else None,
    ):
        try:
            return copied()
        except AttributeError:
            # An array of another library.
            continue
    return None


def _contents(file: str, named: Named) -> dict[str, Any]:
    found = np.load(file, allow_pickle=False)
    if isinstance(found, np.ndarray):
        raise ValueError("it is one array without a name")
    with found:
        contents = {name: found[name] for name in found.files}
    values: dict[str, Any] = {}
    texts: dict[str, str] = {}
    memories: dict[str, np.ndarray] = {}
    views: dict[str, str] = {}
    for key, value in contents.items():
        name, colon, kind = key.partition(":")
        if not isinstance(value, np.ndarray):
            raise ValueError(f"its part {key} is no array")
        if kind == _TREE:
            texts[name] = str(value)
        elif kind == _MEMORY:
            memories[name] = np.frombuffer(value.tobytes(), np.uint8).copy()
        elif kind == _VIEW:
            views[name] = str(value)
        elif kind in _KINDS:
            text = str(value)
            values[name] = text == "True" if kind == "bool" else _KINDS[kind](text)
        elif colon or value.dtype.kind not in "biufc":
            raise ValueError(f"its array {key} is of dtype {value.dtype}")
        else:
            values[name] = value if value.ndim else value[()]
    values |= {name: _view(name, text, memories) for name, text in views.items()}
    return put_in(texts, values, named)


def _view(name: str, text: str, memories: Mapping[str, np.ndarray]) -> np.ndarray:
    try:
        number, *place = ast.literal_eval(text)
        found = part_of(memories[str(number)], *place)
    except (SyntaxError, TypeError, KeyError, MemoryError, RecursionError):
        raise ValueError(f"its array {name} is in no memory of the file") from None
    if found.dtype.kind not in "biufc":
        raise ValueError(f"its array {name} is of dtype {found.dtype}")
    return found


def load_inputs(file: str, function: Any = None) -> dict[str, Any]:
    """The arguments of a file by name; arrays without axes are NumPy scalars.

    Parameters
    ----------
    file : str
    function : function, optional
        In whose module classes are looked for.

    Raises
    ------
    PytocuError
        There is no such file, or it is no ``.npz``.
    """
    try:
        return _contents(file, _names(function))
    except TreeTextError as error:
        raise PytocuError(f"{file!r} holds arguments that cannot be put together: {error}") from None
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        reason = "it is no file of arrays" if "pickle" in str(error) else str(error)
        place = file if file.endswith(".npz") else "inputs.npz"
        raise PytocuError(f"{file!r} holds no arguments ({reason}): np.savez({place!r}, x=x) writes them by name") from None
