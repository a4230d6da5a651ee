"""The decorator: binding, methods, static arguments, guards, specialisations, threads, pickling."""

from __future__ import annotations

import copy
import enum
import functools
import inspect
import os
import pickle
import subprocess
import sys
import textwrap
import threading
from types import FunctionType, SimpleNamespace

import numpy as np
import pytest

import pytocu
from pytocu.guards import MISSING, guard, read_attribute, static_key
from pytocu.testing.compare import compare

X = np.arange(4, dtype=np.float32)


@pytocu.jit
def scaled(x, factor=2.0, *, shift=0):
    """Scale and shift."""
    return x * factor + shift


@pytocu.jit(static="mode")
def activated(x, mode="relu"):
    if mode == "relu":
        return np.maximum(x, 0)
    if mode == "double":
        return x * 2
    raise ValueError(f"unknown mode {mode}")


# Binding.


def test_looks_like_the_function():
    assert scaled.__name__ == "scaled" and scaled.__doc__ == "Scale and shift."
    assert scaled.__module__ == __name__ and inspect.isfunction(scaled.__wrapped__)
    assert str(inspect.signature(scaled)) == "(x, factor=2.0, *, shift=0)"
    assert repr(scaled) == "<pytocu.jit scaled(x, factor=2.0, *, shift=0)>"


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [((X,), {}), ((X, 3), {}), ((X,), {"factor": 3}), ((), {"x": X, "shift": 1}), ((X, 1), {"shift": np.float64(2)})],
)
def test_arguments(args, kwargs):
    compare(scaled(*args, **kwargs), scaled.__wrapped__(*args, **kwargs))


@pytest.mark.parametrize(("args", "kwargs"), [((), {}), ((X, 1, 2), {}), ((X,), {"y": 1}), ((X,), {"x": X})])
def test_wrong_arguments_give_the_sentence_of_the_plain_function(args, kwargs):
    with pytest.raises(TypeError) as expected:
        scaled.__wrapped__(*args, **kwargs)
    with pytest.raises(TypeError) as caught:
        scaled(*args, **kwargs)
    assert str(caught.value) == str(expected.value) and "scaled()" in str(caught.value)
    compare(scaled(X), X * 2.0)


def test_parameters_may_have_any_names():
    def f(find, call, /, type, error=2.0, *, general, Error=1):
        return find * call + type * error - general / Error

    g = pytocu.jit(f)
    for _ in range(3):
        compare(g(X, 2.0, 3.0, general=X), f(X, 2.0, 3.0, general=X))
        compare(g(X, 2.0, error=X, type=X, general=1.0, Error=X + 1), f(X, 2.0, error=X, type=X, general=1.0, Error=X + 1))
    with pytest.raises(TypeError, match="positional-only arguments passed as keyword"):
        g(find=X, call=2.0, type=1, general=1)


def test_keyword_only_arguments_while_disabled(monkeypatch):
    f = pytocu.jit(lambda x, *, k=3: (type(x), k))
    monkeypatch.setenv("PYTOCU_DISABLE", "1")
    assert f([1], k=4) == (list, 4) and f(2) == (int, 3)


def test_any_number_of_arguments_is_refused_at_the_call():
    f = pytocu.jit(lambda *xs: xs[0])
    with pytest.raises(NotImplementedError, match=r"takes any number of arguments \(\*xs\)"):
        f(X)
    with pytest.raises(NotImplementedError, match=r"takes any number of arguments \(\*\*keywords\)"):
        pytocu.jit(lambda **keywords: 1)()
    wrapped = pytocu.jit(functools.wraps(scaled.__wrapped__)(lambda *a, **k: scaled.__wrapped__(*a, **k)))
    with pytest.raises(NotImplementedError, match="put jit next to the def"):
        wrapped(X)


def test_decorators_around():
    def twice(f):
        @functools.wraps(f)
        def inner(*args):
            return f(f(*args))

        return inner

    @twice
    @pytocu.jit
    def f(x):
        return x + 1

    compare(f(X), X + 2)
    compare(pytocu.jit(pytocu.jit(lambda x: x + 1))(X), X + 1)


@pytest.mark.parametrize(
    ("thing", "help"),
    [
        (functools.partial(np.add, 1), "make the partial of the result"),
        (staticmethod(lambda x: x), "write @staticmethod above @pytocu.jit"),
        (classmethod(lambda x: x), "write @classmethod above @pytocu.jit"),
        (np.sin, "decorate a def or a lambda"),
        (3, "decorate a def or a lambda"),
        (int, "decorate a def or a lambda"),
    ],
)
def test_not_a_function(thing, help):
    with pytest.raises(NotImplementedError, match="jit takes a Python function") as caught:
        pytocu.jit(thing)
    assert help in str(caught.value)


def test_options_are_checked():
    with pytest.raises(pytocu.PytocuError, match="has no parameter z; its parameters: x"):
        pytocu.jit(lambda x: x, static="z")
    with pytest.raises(pytocu.PytocuError, match="device='gpu'"):
        pytocu.jit(lambda x: x, device="gpu")
    with pytest.raises(pytocu.PytocuError, match="fastmath='fast'"):
        pytocu.jit(lambda x: x, fastmath="fast")
    with pytest.raises(pytocu.PytocuError, match="no backend 'metal'"):
        pytocu.jit(lambda x: x + 1, backend="metal")(X)


# Methods.


class Model:
    """A class with jitted methods."""

    bias = 1.0

    def __init__(self, scale):
        self.scale = scale

    @pytocu.jit
    def apply(self, x, power=1):
        return self.helper(x) * self.scale + self.bias * power

    @pytocu.jit
    def helper(self, x):
        return x + self.scale

    @staticmethod
    @pytocu.jit
    def plain(x):
        return x * 3

    @classmethod
    @pytocu.jit
    def of_class(cls, x):
        return x + cls.bias

    @property
    @pytocu.jit
    def number(self):
        return self.scale * 2

    def __eq__(self, other):
        raise AssertionError("the class's own comparison must not run")

    __hash__ = None  # pyright: ignore[reportAssignmentType]


def test_methods():
    model = Model(2.0)
    compare(model.apply(X), (X + 2.0) * 2.0 + 1.0)
    compare(model.apply(X, power=3), (X + 2.0) * 2.0 + 3.0)
    compare(Model.apply(model, X), model.apply(X))
    compare(model.plain(X), X * 3)
    compare(Model.plain(X), X * 3)
    compare(model.of_class(X), X + 1.0)
    assert model.number == 4.0
    assert model.apply == model.apply and model.apply != Model(1).apply
    assert model.apply.__name__ == "apply" and model.apply.__self__ is model
    compare(model.apply.__wrapped__(X), model.apply(X))
    assert [k.name for k in model.apply.lower("f32[n]").kernels] == ["apply"]


def test_objects_of_a_class_share_code_where_they_agree():
    f = pytocu.jit(lambda m, x: x * m.scale)
    first, second, third = Model(2.0), Model(2.0), Model(3.0)
    for model in (first, second, third, first):
        compare(f(model, X), X * model.scale)
    assert len(f.specializations) == 2
    first.scale = 5.0
    compare(f(first, X), X * 5.0)
    compare(f(second, X), X * 2.0)


def test_changes_of_attributes_are_seen():
    model = Model(2.0)
    before = model.apply(X)
    model.scale = 4.0
    compare(model.apply(X), (X + 4.0) * 4.0 + 1.0)
    Model.bias = 7.0
    try:
        compare(model.apply(X), (X + 4.0) * 4.0 + 7.0)
        compare(Model.of_class(X), X + 7.0)
    finally:
        Model.bias = 1.0
    model.scale = 2.0
    compare(model.apply(X), before)


def test_what_a_class_computes_may_become_another(monkeypatch):
    class Tool:
        half = property(lambda self: 0.5)
        third = functools.cached_property(lambda self: 0.25)
        third.__set_name__(None, "third")  # pyright: ignore[reportArgumentType]

        def __call__(self, x):
            return x + 1

        def __getattr__(self, name):
            return 2.0

    tool = Tool()
    functions = [
        lambda x, t: x * t.half, lambda x, t: x * t.third, lambda x, t: t(x), lambda x, t: x * t.other,
        lambda x, _: x * tool.half,
    ]  # fmt: skip
    arguments = X, tool
    for f in map(pytocu.jit, functions):
        before = f(*arguments)
        compare(before, f.__wrapped__(*arguments))
        with monkeypatch.context() as changed:
            changed.setattr(Tool, "half", property(lambda self: 7.0))
            changed.setattr(Tool, "third", property(lambda self: 8.0))
            changed.setattr(Tool, "__call__", lambda self, x: x + 2)
            changed.setattr(Tool, "__getattr__", lambda self, name: 9.0)
            compare(f(*arguments), f.__wrapped__(*arguments))
        assert len(f.specializations) == 2
        compare(f(*arguments), before)


class Late:
    """An object whose class makes what it lacks."""

    third = functools.cached_property(lambda self: 3.0)
    third.__set_name__(None, "third")  # pyright: ignore[reportArgumentType]

    def __init__(self):
        self.own = 4.0

    def __getattr__(self, name):
        if name in ("own", "other"):
            return 2.0
        raise AttributeError(name)


def shifted(x, by=2.0, *, more=1.0):
    return x + by + more


def another(x, by=2.0, *, more=1.0):
    return x - by - more


class Member(enum.Enum):
    ONE = 1


CHANGES = {
    "other": (lambda x, late: x * late.other, lambda late: setattr(late, "other", 5.0)),
    "other of the class": (lambda x, late: x * late.other, lambda late: setattr(type(late), "other", 5.0)),
    "cached": (lambda x, late: x * late.third, lambda late: setattr(late, "third", 5.0)),
    "own": (lambda x, late: x * late.own, lambda late: delattr(late, "own")),
    "class": (lambda x, late: x * (2 if isinstance(late, Late) else 3), lambda late: setattr(late, "__class__", Model)),
    "defaults": (lambda x, _: shifted(x), lambda _: setattr(shifted, "__defaults__", (5.0,))),
    "keywords": (lambda x, _: shifted(x), lambda _: shifted.__kwdefaults__.update(more=5.0)),
    "code": (lambda x, _: shifted(x), lambda _: setattr(shifted, "__code__", another.__code__)),
    "of a function": (lambda x, _: x * shifted.scale, lambda _: setattr(shifted, "scale", 5.0)),
    "new": (lambda x, _: x * (2 if hasattr(shifted, "late") else 3), lambda _: setattr(shifted, "late", 5.0)),
    "of a jitted function": (lambda x, _: x * scaled.scale, lambda _: setattr(scaled, "scale", 5.0)),
    "of a member": (lambda x, _: x * Member.ONE.scale, lambda _: setattr(Member.ONE, "scale", 5.0)),
}


@pytest.mark.parametrize("calls", [1, 150])
@pytest.mark.parametrize("passed", [False, True])
@pytest.mark.parametrize("what", CHANGES)
def test_what_else_may_become_another(what, passed, calls, monkeypatch):
    """Of an argument or a captured object, whether Python looks or native code."""
    function, change = CHANGES[what]
    helper = FunctionType(shifted.__code__, globals(), "shifted", (2.0,))
    helper.__kwdefaults__ = {"more": 1.0}
    monkeypatch.setitem(globals(), "shifted", helper)
    for owner in (helper, scaled, Member.ONE):
        monkeypatch.setattr(owner, "scale", 2.0, raising=False)
    late = type("Later", (Late,), {})()
    f = pytocu.jit(function if passed else lambda x, _: function(x, late))
    for _ in range(calls):
        before = f(X, late if passed else None)
    change(late)
    after = f(X, late if passed else None)
    compare(after, function(X, late))
    assert not np.array_equal(before, after)


def test_one_object_twice_and_two_objects():
    f = pytocu.jit(lambda x, a, b: x * a.s + b.s)
    one, two, three = SimpleNamespace(s=2), SimpleNamespace(s=2), SimpleNamespace(s=5)
    compare(f(X, one, one), X * 2 + 2)
    compare(f(X, three, one), X * 5 + 2)
    compare(f(X, one, three), X * 2 + 5)
    compare(f(X, three, three), X * 5 + 5)
    nested = SimpleNamespace(a=one, b=one)
    g = pytocu.jit(lambda x, c: x * c.a.s + c.b.s)
    compare(g(X, nested), X * 2 + 2)
    compare(g(X, SimpleNamespace(a=three, b=two)), X * 5 + 2)
    nested.b = three
    compare(g(X, nested), X * 2 + 5)


SETTINGS = SimpleNamespace(s=2)


def test_an_object_that_is_captured_and_passed():
    f = pytocu.jit(lambda x, c: x * c.s + SETTINGS.s)
    compare(f(X, SETTINGS), X * 2 + 2)
    other = SimpleNamespace(s=2)
    compare(f(X, other), X * 2 + 2)
    SETTINGS.s = 3
    try:
        compare(f(X, other), X * 2 + 3)
        compare(f(X, SETTINGS), X * 3 + 3)
    finally:
        SETTINGS.s = 2


def test_bound_methods_are_jitted_with_their_object():
    class Plain:
        k = 3

        def f(self, x):
            return x * self.k

    compare(pytocu.jit(Plain().f)(X), X * 3)


# Static arguments and guards.


def test_static_values():
    x = X - 2
    compare(activated(x), np.maximum(x, 0))
    compare(activated(x, "double"), x * 2)
    compare(activated(x, mode="relu"), np.maximum(x, 0))
    assert len(activated.specializations) == 2
    assert any("static 'double'" in t for s in activated.specializations for t in s.types)
    with pytest.raises(ValueError, match="unknown mode sinh") as caught:
        activated(x, "sinh")
    assert type(caught.value).__name__ == "ValueError"
    compare(activated(x, "double"), x * 2)


def test_static_numbers_tell_types_apart():
    f = pytocu.jit(lambda x, k: x * k if isinstance(k, float) else x + k, static=("k",))
    for k in (1, 1.0, True, 2, np.float64(1), -0.0, 0.0):
        compare(f(X, k), f.__wrapped__(X, k))
    assert len(f.specializations) == 7


def test_static_containers():
    f = pytocu.jit(lambda x, axes, table: sum(x * a for a in axes) + table["k"], static=("axes", "table"))
    compare(f(X, (1, 2), {"k": 1}), X * 1 + X * 2 + 1)
    compare(f(X, [1, 2], {"k": 1}), X * 1 + X * 2 + 1)
    axes = [3]
    compare(f(X, axes, {"k": 1}), X * 3 + 1)
    axes.append(4)
    compare(f(X, axes, {"k": 2}), X * 3 + X * 4 + 2)


def test_a_static_array_is_refused():
    with pytest.raises(NotImplementedError, match="the static argument x is an array"):
        pytocu.jit(lambda x: x, static="x")(X)


def test_scalars_do_not_share_wrongly():
    f = pytocu.jit(lambda x, s: x * s)
    for s in (1, True, 1.0, np.float64(1), np.float32(1), np.int8(1), np.bool_(True), 2**70, np.array(1.0)):
        compare(f(X, s), X * s)
    for s in (5, 7.5, False):
        compare(f(X, s), X * s)
    assert len(f.specializations) == 9


SCALE = 2.0
TABLE = {"a": [1, 2]}


class Color(enum.Enum):
    RED = 1


def helper(x):
    return x * SCALE


def test_globals_are_guarded(monkeypatch):
    f = pytocu.jit(lambda x: helper(x) + SCALE)
    module = sys.modules[__name__]
    compare(f(X), X * 2.0 + 2.0)
    for value in (3.0, 3, np.float64(3), True, -0.0, 0.0):
        monkeypatch.setattr(module, "SCALE", value)
        compare(f(X), X * value + value)
    monkeypatch.setattr(module, "SCALE", 2.0)
    count = len(f.specializations)
    compare(f(X), X * 2.0 + 2.0)
    assert len(f.specializations) == count == 7
    assert "captured SCALE" in f.specializations[0].facts


def test_changed_functions_and_tables_are_seen(monkeypatch):
    f = pytocu.jit(lambda x: helper(x) + TABLE["a"][0] + len(TABLE["a"]))
    module = sys.modules[__name__]
    compare(f(X), X * 2.0 + 3)
    TABLE["a"].append(9)
    compare(f(X), X * 2.0 + 4)
    TABLE["a"].pop()
    monkeypatch.setattr(module, "helper", lambda x: x - 1)
    compare(f(X), X - 1 + 3)
    monkeypatch.setitem(TABLE, "a", [5, 6])
    compare(f(X), X - 1 + 7)


def test_shadowing_a_builtin_is_seen(monkeypatch):
    f = pytocu.jit(lambda x: x * len((1, 2)))
    compare(f(X), X * 2)
    monkeypatch.setattr(sys.modules[__name__], "len", lambda x: 10, raising=False)
    compare(f(X), X * 10)


def test_closures_are_guarded():
    k = 2
    name = "a"

    @pytocu.jit
    def f(x):
        return x * k if name == "a" else x - k

    compare(f(X), X * 2)
    k = 3
    compare(f(X), X * 3)
    name = "b"
    compare(f(X), X - 3)
    del k
    with pytest.raises(NameError, match="free variable 'k'"):
        f(X)
    k = 2
    compare(f(X), X - 2)


def test_captured_modules_and_objects(monkeypatch):
    f = pytocu.jit(lambda x: x * SETTINGS.s + np.pi)
    compare(f(X), X * 2 + np.pi)
    monkeypatch.setattr(sys.modules[__name__], "SETTINGS", SimpleNamespace(s=11))
    compare(f(X), X * 11 + np.pi)


# Specialisations.


def test_a_new_size_is_no_new_compile():
    f = pytocu.jit(lambda x, y: x[1:] + y[:-1] * 2)
    for n in (5, 9, 1000, 3, 4, 0):
        x = np.arange(n, dtype=np.float32)
        compare(f(x, x), x[1:] + x[:-1] * 2)
    assert len(f.specializations) == 1
    compare(f(X.astype(float), X), X.astype(float)[1:] + X[:-1] * 2)
    assert len(f.specializations) == 2


def test_length_one_is_a_fact():
    f = pytocu.jit(lambda x, y: x + y)
    for n, m in [(4, 4), (1, 4), (4, 1), (1, 1), (5, 5), (7, 1), (1, 0)]:
        compare(f(np.ones(n), np.ones(m)), np.ones(n) + np.ones(m))
    assert len(f.specializations) == 4


def test_after_an_error_the_next_call_works():
    f = pytocu.jit(lambda x, y: x + y)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"operands could not be broadcast together with shapes \(4,\) \(3,\) "):
            f(X, X[:3])
        compare(f(X, X), X + X)
        with pytest.raises(TypeError):
            f(X, np.array(["a"]))


def test_lower_takes_types_values_and_defaults():
    text = scaled.lower("f32[n]").ir("lower")
    assert "weak float" in text
    assert scaled.lower(X, "weak int", shift="f64").kernels[0].name == "scaled"
    assert activated.lower("f32[n]", "double").kernels
    assert activated.lower("f32[n]").kernels
    with pytest.raises(TypeError, match="argument x"):
        scaled.lower("f3[n]")
    with pytest.raises(TypeError, match=r"scaled\(\) missing 1 required positional argument: 'x'"):
        scaled.lower()
    named = pytocu.jit(lambda x, kind="relu": x + 1 if kind == "relu" else x)
    assert named.lower("f32[n]", "other").ir("lower") != named.lower("f32[n]").ir("lower")


# Processes and threads.


def test_pickles_by_reference():
    assert pickle.loads(pickle.dumps(scaled)) is scaled
    assert copy.deepcopy(scaled) is scaled
    assert pickle.loads(pickle.dumps(Model.apply)) is Model.apply
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(pytocu.jit(lambda x: x))


def test_errors_pickle():
    for function, kind in ((lambda x: x.shap, AttributeError), (lambda x: {}["k"], KeyError), (lambda x: x[0, 0], IndexError)):
        with pytest.raises(kind) as caught:
            pytocu.jit(function)(X)
        again = pickle.loads(pickle.dumps(caught.value))
        assert isinstance(again, kind) and isinstance(again, pytocu.CompileError) and str(again) == str(caught.value)


def test_threads_compile_once():
    f = pytocu.jit(lambda x, k: np.where(x > k, x * k, x - k))
    start = threading.Barrier(8)
    failures = []

    def work(seed):
        start.wait()
        for k in range(20):
            x = np.arange(50 + seed + k, dtype=np.float32)
            try:
                compare(f(x, k), f.__wrapped__(x, k))
                compare(f(x, float(k)), f.__wrapped__(x, float(k)))
            except Exception as error:
                failures.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert len(f.specializations) == 2


def run(tmp_path, text, **environment):
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(text))
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment}
    return subprocess.run([sys.executable, str(path)], capture_output=True, text=True, env=env, check=False)


def test_disabled_runs_plain_python(tmp_path):
    done = run(
        tmp_path,
        """
        import numpy as np, pytocu, sys
        @pytocu.jit
        def f(x, *rest):
            print("in python")
            return x + 1
        class C:
            @pytocu.jit
            def m(self, x):
                return x * 2
        print(f(np.ones(2)), C().m(3), "llvmlite" in sys.modules)
        """,
        PYTOCU_DISABLE="1",
    )
    assert done.stdout == "in python\n[2. 2.] 6 False\n", done.stderr


FAILING = """
    import numpy as np, pytocu
    def inner(y):
        return y.nothing
    @pytocu.jit
    def f(x):
        return inner(x)
    f(np.ones(2))
"""


def test_tracebacks_hide_the_compiler(tmp_path):
    done = run(tmp_path, FAILING)
    frames = [line for line in done.stderr.splitlines() if line.startswith("  File")]
    assert "program.py" in frames[0] and all("<pytocu entry of f>" in f for f in frames[1:]) and len(frames) <= 2, done.stderr
    assert "line 4, in inner" not in done.stderr and "called from" in done.stderr
    debug = run(tmp_path, FAILING, PYTOCU_DEBUG="1")
    assert "attributes.py" in debug.stderr


def test_a_guard_runs_no_getattr_of_the_user():
    assert read_attribute(Late(), "own") == 4.0
    assert read_attribute(Late(), "other") is MISSING
    assert read_attribute(sys, "argv") is sys.argv


def test_a_guard_looks_at_the_object_first():
    keys: list[object] = []

    def key_of(value):
        keys.append(value)
        return static_key(value)

    for value in (2, 2.5, 1j, "text", None, True, np.float32(3), np, np.exp, len, abs, compare, np.float32):
        watch = guard("value", value, lambda arguments: arguments[0], key_of)
        keys.clear()
        assert watch.holds((value,)) and not keys
        assert not watch.holds((object(),)) and len(keys) == 1
    changing = [1, 2]
    watch = guard("value", changing, lambda arguments: arguments[0], key_of)
    assert watch.holds((changing,))
    changing.append(3)
    assert not watch.holds((changing,))
    gone = guard("value", MISSING, lambda arguments: arguments[0], key_of)
    assert gone.holds((MISSING,)) and not gone.holds((1,))


def scaled_sums(x, times=2, *, axis=-1, keepdims=True, by=0.5):
    made = [x.sum(axis=axis, keepdims=keepdims)]
    for _ in range(times):
        made.append(made[-1] * by)
    return made


def test_numbers_that_are_left_out_are_known():
    """They are the function's own; the same numbers passed are arguments of run time."""
    x = np.arange(6.0).reshape(2, 3)
    jitted = pytocu.jit(scaled_sums)
    for given in (x, x[:1], x.astype(np.float32)):
        for found, wanted in zip(jitted(given), scaled_sums(given), strict=True):
            compare(found, wanted)
    known = "times: static 2", "axis: static -1", "keepdims: static True", "by: static 0.5"
    assert jitted.specializations[0].types[1:] == known
    for found, wanted in zip(jitted(x, by=0.25), scaled_sums(x, by=0.25), strict=True):
        compare(found, wanted)
    assert jitted.specializations[0].types[-1] == "by: weak float"
    with pytest.raises(pytocu.UnsupportedError, match="keepdims= must be known"):
        jitted(x, keepdims=False)
    assert len(jitted.lower("f64[n, m]").function.params) == 1
    assert repr(inspect.signature(jitted)) == repr(inspect.signature(scaled_sums))


def test_numbers_that_are_left_out_while_disabled(monkeypatch):
    monkeypatch.setenv("PYTOCU_DISABLE", "1")
    assert pytocu.jit(lambda x, *, by=2: x * by)(4) == 8


def test_specializations_are_listed_newest_first():
    f = pytocu.jit(lambda x: x * 2)
    kinds = (np.ones(3), np.ones(3, np.float32), np.ones(1), {"a": np.ones(2)}["a"], np.ones((2, 3)), np.ones(3, np.int8))
    for x in kinds:
        f(x)
    shown = [s.types[0] for s in f.specializations]
    assert shown == ["x: i8[x_0]", "x: f64[x_0, x_1]", "x: f64[1]", "x: f32[x_0]", "x: f64[x_0]"]


def test_specializations_of_arrays_that_are_held_are_in_the_same_order():
    f = pytocu.jit(lambda p: p[0] * p[1])
    for dtype in (np.float32, np.int16, np.float64):
        f((np.ones(3, dtype), np.ones(3, dtype)))
        f([np.ones(3, dtype), np.ones(3, dtype)])
    assert [s.types[0] for s in f.specializations] == [f"p_0: {t}[p_0_0]" for t in ("f64", "f64", "i16", "i16", "f32", "f32")]


def test_arrays_that_captured_containers_hold_are_not_constants():
    """Their numbers may be others at the next call, and what is written into them is seen outside."""
    held, table = [np.arange(3.0), 2.0], {"n": 3, "grid": np.zeros(3)}
    reads = [
        lambda x: x + held[0],
        lambda x: held[0],
        lambda x: np.add(x, 1, out=held[0]),
        lambda x: x * np.sum(table["grid"]),
        lambda x: [v + x for v in table.values()],
        lambda x: x + np.array([held[0], held[0]]).sum(),
        lambda x: x + table.get("grid"),
        lambda x: x * max(held[0]),
    ]
    for read in reads:
        with pytest.raises(pytocu.CompileError, match=r"the array (held\[0\]|table\['grid'\]) is captured"):
            pytocu.jit(read)(np.ones(3))
    numbers = pytocu.jit(lambda x: x * held[1] + table["n"])
    compare(numbers(np.ones(3)), np.full(3, 5.0))
    table["n"] = 4
    compare(numbers(np.ones(3)), np.full(3, 6.0))
