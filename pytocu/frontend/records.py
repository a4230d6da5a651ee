"""Objects of the program's classes: made, their attributes changed, and handed back to who called the function.

While a program is read such an object is an object of its class, made without running any of the class's code: ``__init__`` is
read as any function is, and what a dataclass writes for itself is done here.  What arguments hold may be changed as well, and
lists and dicts among them: the function returns beside its result what they hold in the end (`pytocu.trees.Changed`).
"""

from __future__ import annotations

import dataclasses
import inspect
import types
from abc import ABCMeta
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Any

from pytocu.deferred import Deferred
from pytocu.errors import MissingAttributeError, UnsupportedError, raised
from pytocu.frontend.attribute_lookup import get_attribute
from pytocu.frontend.calls import bind, call
from pytocu.frontend.frames import Frame, lookup
from pytocu.frontend.objects import Held, is_object, note_object, refuse_shared
from pytocu.frontend.operators import attempt
from pytocu.frontend.values import Context, contains_dynamic, describe
from pytocu.ir.python_functions import class_at, class_path
from pytocu.trees import spec_of

_copiers = Deferred("pytocu.frontend.builtin_calls", "copiers")

_MADE, _GIVEN, _PLACED, _AGAIN, _AFTER, _SHARED, _CHANGED, _CHANGE = (
    f"pytocu.trees:{name}" for name in ("Made", "Given", "Placed", "Again", "After", "Shared", "Changed", "Change")
)

Tree = Callable[[Any], Any]
"""The form of what is returned; see `pytocu.ir.interp_arguments.arrange`."""


def is_class(function: Any) -> bool:
    """Whether objects of a class can be made: it is made in Python, with an ``__init__`` and attributes of its own."""
    if type(function) not in (type, ABCMeta) or function.__new__ is not object.__new__ or not function.__dictoffset__:
        return False
    if not isinstance(function.__init__, types.FunctionType):
        return False
    return function.__module__.partition(".")[0] not in ("numpy", "cupy", "jax", "jaxlib", "torch", "pytocu")


def make(frame: Any, kind: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``kind(*args, **kwargs)``"""
    context: Context = frame.context
    # A class with abstract methods has no objects.
    made = attempt(context, object.__new__, kind)
    note_object(context, made)
    begin = get_attribute(frame, kind, "__init__")
    if not _writes_init(kind):
        call(frame, begin, (made, *args), kwargs)
        return made
    given = bind(context, begin, inspect.signature(begin), (made, *args), kwargs)
    late: list[Any] = []
    for name, field in kind.__dataclass_fields__.items():
        # Fields of the class itself are no arguments.
        if field._field_type is dataclasses._FIELD_CLASSVAR:  # pyright: ignore[reportAttributeAccessIssue]
            continue
        value = given.get(name, dataclasses.MISSING) if field.init else field.default
        if field.default_factory is not dataclasses.MISSING and (not field.init or value is _FACTORY):
            value = call(frame, field.default_factory, (), {})
        if field._field_type is dataclasses._FIELD_INITVAR:  # pyright: ignore[reportAttributeAccessIssue]
            late.append(value)
        elif value is not dataclasses.MISSING:
            object.__setattr__(made, name, value)
    if hasattr(kind, "__post_init__"):
        call(frame, get_attribute(frame, kind, "__post_init__"), (made, *late), {})
    return made


def make_super(frame: Frame, args: tuple[Any, ...]) -> super:
    """``super()`` in a method, and ``super(Class, self)``: what finds attributes behind a class."""
    context = frame.context
    if not args:
        method = frame
        while method.parent is not None and method.parent.function is method.function:
            method = method.parent
        code = method.function.__code__
        if "__class__" not in code.co_freevars or not code.co_argcount:
            missing = "no arguments" if "__class__" in code.co_freevars else "__class__ cell not found"
            raise raised(RuntimeError(f"super(): {missing}"), context.loc)
        args = lookup(frame, "__class__"), lookup(method, code.co_varnames[0])
    if len(args) != 2 or contains_dynamic(args[1:]):
        raise UnsupportedError("super() of one argument, or of an array, is not compiled", context.loc, "write super()")
    return attempt(context, super, *args)


def behind(frame: Frame, base: Any, name: str) -> Any:
    """``super().name``"""
    context = frame.context
    made, classes = base.__self__, type(base.__self__).__mro__
    if isinstance(made, type):
        classes = made.__mro__
    following = classes[classes.index(base.__thisclass__) + 1 :]
    kind = next((c for c in following if name in vars(c)), None)
    if kind is None:
        raise MissingAttributeError(f"'super' object has no attribute '{name}'", context.loc)
    if kind is object:
        return attempt(context, getattr, base, name)
    found = get_attribute(frame, kind, name)
    static = vars(kind)[name]
    if isinstance(static, types.FunctionType):
        return found if isinstance(made, type) else types.MethodType(found, made)
    if isinstance(static, property) and static.fget is not None:
        return call(frame, static.fget, (made,), {})
    return found if isinstance(static, staticmethod) else attempt(context, getattr, base, name)


_FACTORY = dataclasses._HAS_DEFAULT_FACTORY  # pyright: ignore[reportAttributeAccessIssue]
"""The default of a parameter for which a dataclass calls a function."""


def _writes_init(kind: type) -> bool:
    """Whether ``__init__`` is one that a dataclass has written."""
    (owner, *_) = (c for c in kind.__mro__ if "__init__" in vars(c))
    parameters = vars(owner).get("__dataclass_params__")
    return parameters is not None and parameters.init and owner.__init__.__code__.co_filename == "<string>"


def replace(frame: Any, base: Any, /, **changes: Any) -> Any:
    """``dataclasses.replace``"""
    context: Context = frame.context
    if not _is_record(context, base):
        raise raised(TypeError("replace() should be called on dataclass instances"), context.loc)
    for name, field in type(base).__dataclass_fields__.items():
        if field._field_type is dataclasses._FIELD and field.init:  # pyright: ignore[reportAttributeAccessIssue]
            changes.setdefault(name, getattr(base, name))
        elif name in changes and not field.init:
            text = f"field {name} is declared with init=False, it cannot be specified with replace()"
            raise raised(ValueError(text), context.loc)
    return make(frame, type(base), (), changes)


def as_tuple(frame: Any, obj: Any, *, tuple_factory: Any = tuple) -> Any:
    """``dataclasses.astuple``"""
    return _fields_of(frame, obj, "astuple", tuple_factory, tuple)


def as_dict(frame: Any, obj: Any, *, dict_factory: Any = dict) -> Any:
    """``dataclasses.asdict``"""
    return _fields_of(frame, obj, "asdict", dict_factory, dict)


def _fields_of(frame: Any, obj: Any, name: str, factory: Any, own: type) -> Any:
    context: Context = frame.context
    if not _is_record(context, obj):
        raise raised(TypeError(f"{name}() should be called on dataclass instances"), context.loc)
    if factory is not own:
        text = f"dataclasses.{name} with another {own.__name__}_factory is not compiled"
        raise UnsupportedError(text, context.loc, f"make it of the {own.__name__} that {name}() gives")

    def copied(value: Any) -> Any:
        if _is_record(context, value):
            pairs = [(field.name, copied(getattr(value, field.name))) for field in dataclasses.fields(type(value))]
            return dict(pairs) if own is dict else tuple(made for _, made in pairs)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*map(copied, value))
        if type(value) in (list, tuple):
            return type(value)(map(copied, value))
        if type(value) is dict:
            return {copied(k): copied(v) for k, v in value.items()}
        return _copiers()["deepcopy"](frame, value)

    return copied(obj)


def _is_record(context: Context, value: Any) -> bool:
    return hasattr(type(value), "__dataclass_fields__") and is_object(context, value)


def set_attribute(frame: Any, base: Any, name: str, value: Any, text: str) -> None:
    """``base.name = value`` of an object that the function made, or was given; `text` is how the program writes it.

    Raises
    ------
    AttributeError
        The class does not allow it.
    UnsupportedError
        The class decides itself what is done.
    """
    context: Context = frame.context
    kind = type(base)
    refuse_shared(context, base, f"{text} = ...")
    frozen = getattr(kind, "__dataclass_params__", None)
    if frozen is not None and frozen.frozen:
        raise raised(dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}"), context.loc)
    if kind.__setattr__ is not object.__setattr__:
        text = f"the class of {describe(base)} defines __setattr__, which would run while compiling"
        raise UnsupportedError(text, context.loc, "return the value and assign it outside")
    found = inspect.getattr_static(kind, name, None)
    if isinstance(found, property) and isinstance(found.fset, types.FunctionType):
        call(frame, found.fset, (base, value), {})
        return
    if hasattr(type(found), "__set__") and not isinstance(found, property):
        text = f"{text} is assigned by a descriptor, which would run while compiling"
        raise UnsupportedError(text, context.loc, "return the value and assign it outside")
    attempt(context, object.__setattr__, base, name, value)


def path_of_class(context: Context, kind: type) -> str:
    """How a run finds the class of what the function returns.

    Raises
    ------
    UnsupportedError
        No run finds it.
    """
    path = class_path(kind)
    if class_at(path) is not kind:
        raise UnsupportedError(
            f"the function returns a {kind.__name__}, a class that is not at the top of a module",
            context.loc,
            "define the class at the top of a module, or return a tuple",
        )
    return path


def tree_of(context: Context, result: Any, tree: Tree) -> Any:
    """The form of an object of a class, of Python's own code alone where a run puts it together.

    Raises
    ------
    UnsupportedError
        No run finds the class.
    """
    path = path_of_class(context, type(result))
    held = vars(result)
    return ("named", _MADE, ("str", path), ("tuple", *(("str", name) for name in held)), *map(tree, held.values()))


def given(held: Held) -> Any:
    """The form of an argument that is returned, or what it holds."""
    return ("named", _GIVEN, ("str", str(held.number)))


def again(number: int) -> Any:
    """The form of a list, dict or object that stands in the result before."""
    return ("named", _AGAIN, ("str", str(number)))


def under(number: int, form: Any) -> Any:
    """The form of a list, dict or object that stands in the result for the first time."""
    return ("named", _PLACED, ("str", str(number)), form)


def placed(tree: Any, repeated: Set[int]) -> Any:
    """The form of a result in which only lists, dicts or objects that stand in several places are known by their numbers."""
    form = _numbered(tree, {str(number) for number in repeated})
    return ("named", _SHARED, form) if repeated and form[:2] != ("named", _CHANGED) else form


def _numbered(tree: Any, repeated: Set[str]) -> Any:
    match tree:
        case ("named", path, (_, number), form) if path == _PLACED:
            form = _numbered(form, repeated)
            return ("named", path, ("str", number), form) if number in repeated else form
        case ("dict" as kind, *items):
            return (kind, *((key, _numbered(member, repeated)) for key, member in items))
        case ("named" as kind, path, *members):
            return (kind, path, *(_numbered(member, repeated) for member in members))
        case ("tuple" | "list" | "if" as kind, *members):
            return (kind, *(_numbered(member, repeated) for member in members))
    return tree


def after(first: Sequence[Any], result: Any) -> Any:
    """The form of a result, behind those of what may stand in it in several places."""
    return ("named", _AFTER, *first, result)


def with_changes(context: Context, made: Any, tree: Tree) -> Any:
    """The form of a result, and of what lists, dicts and objects among the arguments hold where that has changed."""
    changes = list(_changes(context, tree))
    return ("named", _CHANGED, made, *changes) if changes or _names(made, _GIVEN) else made


def _names(tree: Any, path: str) -> bool:
    """Whether a class stands in a form."""
    if not isinstance(tree, tuple):
        return False
    return tree[:2] == ("named", path) or any(_names(member, path) for member in tree)


def _changes(context: Context, tree: Tree) -> Iterator[Any]:
    for held in context.held.values():
        value = held.value
        if not (isinstance(value, (list, dict)) or is_object(context, value)):
            continue
        now = dict(enumerate(value)) if isinstance(value, list) else value if isinstance(value, dict) else vars(value)
        changed = {key: member for key, member in now.items() if key not in held.members or held.members[key] is not member}
        gone = [key for key in held.members if key not in now]
        if isinstance(value, dict):
            again = _put_back(held.members, now)
            changed = {key: member for key, member in now.items() if key in changed or key in again}
            gone += again
        if not changed and not gone:
            continue
        for key in (*changed, *gone):
            if type(key) not in (str, int):
                text = f"the member {key!r} of a dict that is an argument changes, and only those under strings and ints may"
                raise UnsupportedError(text, context.loc, "copy it first: dict(...), and return the copy")
        spec = spec_of([*changed], gone)
        yield ("named", _CHANGE, ("str", str(held.number)), ("str", spec), *map(tree, changed.values()))


def _put_back(before: Mapping[Any, Any], now: Mapping[Any, Any]) -> list[Any]:
    """The keys that a dict has lost and been given again: each stands behind all that it kept, as a new key does."""
    places = {key: place for place, key in enumerate(before)}
    keys = [*now]
    kept = 0
    while kept < len(keys) and keys[kept] in places and (kept == 0 or places[keys[kept - 1]] < places[keys[kept]]):
        kept += 1
    return [key for key in keys[kept:] if key in places]


__all__ = [
    "after", "again", "as_dict", "as_tuple", "given", "is_class", "make", "path_of_class", "placed", "replace",
    "set_attribute", "tree_of", "under", "with_changes",
]  # fmt: skip
