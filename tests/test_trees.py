"""Arguments that hold arrays: tuples, named tuples, lists, dicts and dataclass objects."""

from __future__ import annotations

import copy
import dataclasses
import subprocess
import sys
import textwrap
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import pytocu
from pytocu.errors import CompileError, DTypeError, ShapeError, UnsupportedError
from pytocu.testing.compare import compare

X = np.array([0.5, -1, 2, 3.0])


class Point(NamedTuple):
    x: Any
    v: Any


@dataclasses.dataclass
class Spring:
    x: Any
    stiffness: float
    name: str = "spring"

    def force(self) -> Any:
        return -self.stiffness * self.x

    @property
    def energy(self) -> Any:
        return self.stiffness * (self.x * self.x).sum() / 2


@dataclasses.dataclass(frozen=True)
class System:
    spring: Spring
    masses: tuple[Any, ...]
    at: dict[str, Any]


def moved(p, dt):
    return Point(p.x + dt * p.v, p.v - dt * p.x)


def weighed(parts):
    a, (b, c) = parts
    return a + b * c


def by_key(d):
    return {key: value * 2 for key, value in d.items()}


def by_method(s):
    return s.force(), s.energy, s.name


def of_a_system(s, n):
    total = s.spring.x * s.masses[0] + s.masses[1]
    for _ in range(n):
        total = total + s.at["north"]
    return total


def one_of_them(p):
    return p[1], p


def changed(p):
    p["x"] += 1
    p["y"][1:] = p["x"][:-1]


def counted(parts):
    return len(parts), [p.shape[0] for p in parts], sum(parts)


def multiplied(parts, y):
    return y * parts + 1


def by_length(parts):
    return np.concatenate(parts)


def trained(params, x, y, steps):
    for _ in range(steps):
        error = x @ params["w"] + params["b"] - y
        params = {"w": params["w"] - 0.1 * x.T @ error, "b": params["b"] - 0.1 * error.sum()}
    return params


def cases() -> list[tuple[Callable[..., Any], tuple[Any, ...]]]:
    rng = np.random.default_rng(0)
    system = System(Spring(X, 2.0), (X + 1, np.float32(3)), {"north": X * 2, "south": None})
    return [
        (moved, (Point(X, X * 2), 0.5)),
        (weighed, ((X, (X + 1, 2.0)),)),
        (weighed, ([X, [X + 1, X]],)),
        (by_key, ({"a": X, "b": np.arange(3), 3: X[:1]},)),
        (by_method, (Spring(X, 2.0),)),
        (of_a_system, (system, 3)),
        (one_of_them, ([X, X + 1],)),
        (counted, ((X, X[:4], X[::-1]),)),
        (by_length, ([X, X[1:]],)),
        (multiplied, ([X, X + 2], X)),
        (by_length, ([X, X[1:], X],)),
        (trained, ({"w": rng.standard_normal(3), "b": 0.0}, rng.standard_normal((5, 3)), rng.standard_normal(5), 4)),
    ]


def leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*value, *(leaf for member in value.values() for leaf in leaves(member))]
    if isinstance(value, (tuple, list)):
        return [type(value).__name__, *(leaf for member in value for leaf in leaves(member))]
    return [value]


@pytest.mark.parametrize(("function", "arguments"), cases(), ids=lambda v: getattr(v, "__name__", ""))
def test_results_are_numpys(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    compiled = pytocu.jit(function)
    for _ in range(2):
        expected, given = leaves(function(*copy.deepcopy(arguments))), leaves(compiled(*copy.deepcopy(arguments)))
        assert len(expected) == len(given)
        for one, other in zip(given, expected, strict=True):
            compare(one, other, exact=False, ulp=16)
    assert len(compiled.specializations) == 1


def test_arrays_are_changed_where_they_are() -> None:
    given = {"x": X.copy(), "y": X.copy()}
    expected = copy.deepcopy(given)
    changed(expected)
    pytocu.jit(changed)(given)
    for key in given:
        compare(given[key], expected[key])
    same = X.copy()
    given = {"x": same, "y": same}
    expected = copy.deepcopy(given)
    changed(expected)
    pytocu.jit(changed)(given)
    compare(same, expected["x"])


def test_the_arrays_themselves_are_returned() -> None:
    a, b = X.copy(), X + 1
    found, (first, second) = pytocu.jit(one_of_them)([a, b])
    assert found is b and first is a and second is b


KNOWN: tuple[Callable[[], Any], ...] = (
    lambda: {"a": 1, "b": 2.0}, lambda: [1, 2.0], lambda: (1, 2.0), lambda: Point(1, 2.0), lambda: Spring(1, 2.0), list,
    lambda: {"a": {"c": 1}, "b": [2, (3,)]},
)  # fmt: skip


def with_others(x, p, q):
    return q, [p, x.sum()], {"p": p}


def inside(p):
    return p["b"], p["a"], p


def beside_an_array(d):
    return d.pop("options"), d["x"] * 2, d


def chosen(x, p, q):
    return p if x.sum() > 0 else q


def is_one(p, q):
    return p is q, p is not q


@pytest.mark.parametrize("make", KNOWN)
def test_what_holds_no_array_is_returned_itself(make: Callable[[], Any]) -> None:
    alone, several = pytocu.jit(lambda p: p), pytocu.jit(with_others)
    # Native code makes calls that come often.
    for _ in range(120):
        p, q = make(), make()
        assert alone(p) is p
        for first, second in ((p, q), (p, p)):
            found = several(X, first, second)
            assert found[0] is second and found[1][0] is first and found[2]["p"] is first


def test_what_such_an_argument_holds_is_returned_itself() -> None:
    compiled, beside, either = pytocu.jit(inside), pytocu.jit(beside_an_array), pytocu.jit(chosen)
    for _ in range(3):
        p = KNOWN[-1]()
        b, a, whole = compiled(p)
        assert whole is p and b is p["b"] and a is p["a"]
        options = {"k": 3}
        d = {"x": X, "options": options}
        found = beside(d)
        assert found[0] is options and found[2] is d and "options" not in d
        q = {"a": 1}
        p = dict(q)
        assert either(X, p, q) is p and either(-X, p, q) is q


def test_whether_arguments_are_one_object_may_change() -> None:
    p, q = [1], [1]
    for given in ((p, p), (p, q), (p, p)):
        assert pytocu.jit(is_one)(*given) == is_one(*given)
    compiled = pytocu.jit(is_one)
    for given in ((p, q), (p, p), (p, q)):
        assert compiled(*given) == is_one(*given)


def test_other_ways_to_hold_them_are_other_functions() -> None:
    compiled = pytocu.jit(by_length)
    for parts in ([X], (X,), [X, X], (X, X), [X, X]):
        compare(compiled(parts), np.concatenate(parts))
    assert len(compiled.specializations) == 4
    assert {s.types[0] for s in compiled.specializations} == {"parts_0: f64[parts_0_0]"}


def test_names_of_parts_are_their_own() -> None:
    compare(pytocu.jit(lambda p, p_x: p["x"] * 10 + p_x)({"x": X}, X + 1), X * 10 + X + 1)
    compare(pytocu.jit(lambda p: p["a b"] - p["a_b"])({"a b": X, "a_b": X + 1}), X - (X + 1))


def test_methods_with_an_object() -> None:
    @dataclasses.dataclass
    class Line:
        slope: Any
        offset: float

        @pytocu.jit
        def at(self, x: Any) -> Any:
            return self.slope * x + self.offset

    compare(Line(X, 2.0).at(X), X * X + 2)


def test_texts_and_functions_beside_arrays() -> None:
    def chosen(d):
        return d["how"](d["x"]) if d["kind"] == "a" else d["x"]

    compiled = pytocu.jit(chosen)
    compare(compiled({"x": X, "kind": "a", "how": np.exp}), np.exp(X), exact=False, ulp=2)
    compare(compiled({"x": X, "kind": "b", "how": np.exp}), X)
    compare(compiled({"x": X, "kind": "a", "how": np.floor}), np.floor(X))


def test_it_is_explained_and_lowered() -> None:
    compiled = pytocu.jit(moved)
    assert [str(p.type) for p in compiled.lower(Point(X, X), 0.5).function.params][2] == "weak float"
    told = compiled.explain(Point(X, X), 0.5)
    assert len(told.kernels) == 1 and "p.x f64[p_x_0]" in str(told)


def test_parts_are_said_as_the_function_writes_them() -> None:
    compiled = pytocu.jit(lambda d, s: d["w"][1] * 2 + s.x)
    told = compiled.explain({"w": (X, X)}, Spring(np.float32([1]), 2.0))
    cause = told.wide[0].causes[0]
    assert cause.sentence == "the argument d['w'][1] is float64" and cause.help == "pass d['w'][1].astype(np.float32)"
    assert repr(told) == str(told)
    with pytest.raises(DTypeError, match=r"argument d\['w'\]\[0\] has dtype <U1") as caught:
        compiled({"w": (np.array(["a"]), X)}, Spring(X, 2.0))
    assert caught.value.help is not None and "np.unique(d['w'][0], return_inverse=True)" in caught.value.help

    def changed(s: Any) -> Any:
        s.x[0] = 1.0
        return s.x

    compiled = pytocu.jit(changed)
    fixed = X.copy()
    fixed.flags.writeable = False
    for _ in range(2):
        with pytest.raises(ValueError, match="read-only") as refused:
            compiled(Spring(fixed, 2.0))
        assert isinstance(refused.value, CompileError) and refused.value.help == "pass a copy of s.x"



def test_static_arguments_stay_as_they_are() -> None:
    compiled = pytocu.jit(lambda x, shape: x.reshape(shape), static=("shape",))
    compare(compiled(X, (2, 2)), X.reshape(2, 2))
    compiled = pytocu.jit(lambda p, shape: p["x"].reshape(shape), static=("shape",))
    compare(compiled({"x": X}, (2, 2)), X.reshape(2, 2))
    with pytest.raises(CompileError, match="array"):
        pytocu.jit(lambda p: p[0] + 1, static=("p",))((X,))


@pytest.mark.parametrize(
    ("function", "argument", "error", "said"),
    [
        (lambda p: p["n"].append(1), {"x": X, "n": [2]}, UnsupportedError, "changes a list that lives outside the function"),
        (lambda p: p["y"], {"x": X}, CompileError, "KeyError: 'y'|'y'"),
        (lambda p: p.w, Spring(X, 1.0), CompileError, "'Spring' object has no attribute 'w'"),
        (lambda p: p[0] + p[1], (X, X[1:]), ShapeError, "operands could not be broadcast together with shapes .4,. .3,."),
    ],
)
def test_errors(function: Callable[..., Any], argument: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        pytocu.jit(function)(argument)


def test_a_list_that_holds_itself() -> None:
    held: list[Any] = [X]
    held.append(held)
    with pytest.raises(UnsupportedError, match="an argument holds itself"):
        pytocu.jit(lambda p: p[0] + 1)(held)


def test_nothing_is_compiled_where_that_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTOCU_DISABLE", "1")
    compare(pytocu.jit(by_key)({"a": X})["a"], X * 2)


def test_another_process_finds_the_code(tmp_path: Any) -> None:
    script = """
        import dataclasses, sys
        from typing import Any
        import numpy as np
        import pytocu
        @dataclasses.dataclass
        class Pair:
            x: Any
            y: Any
        @pytocu.jit
        def f(p, q):
            return p.x * q["k"] + p.y
        print(f(Pair(np.ones(3), np.arange(3.0)), {"k": np.full(3, 2.0)}), "pytocu.driver" in sys.modules)
    """
    file = tmp_path / "program.py"
    file.write_text(textwrap.dedent(script))
    said = []
    for _ in range(2):
        environment = {"PYTHONPATH": ":".join(sys.path), "PYTOCU_CACHE_DIR": str(tmp_path / "cache"), "PATH": ""}
        done = subprocess.run([sys.executable, str(file)], env=environment, capture_output=True, text=True, check=True)
        said.append(done.stdout.strip())
    assert said == ["[2. 3. 4.] True", "[2. 3. 4.] False"]


CLASS_OF_PARTS = """
    import dataclasses, sys
    from typing import Any
    import numpy as np
    import pytocu

    @dataclasses.dataclass
    class Spring:
        x: Any
        gravity = GRAVITY

        def __post_init__(self):
            self.twice = 2 * self.x

        def force(self):
            return FORCE * self.x

        @property
        def energy(self):
            return ENERGY * self.x

        @staticmethod
        def moved(x):
            return x + MOVED

    @pytocu.jit
    def force(s): return s.force() + s.twice * 0
    @pytocu.jit
    def energy(s): return s.energy
    @pytocu.jit
    def weight(s): return s.x * s.gravity
    @pytocu.jit
    def moved(s): return s.moved(s.x)

    def said():
        return [float(f(Spring(np.ones(1)))[0]) for f in (force, energy, weight, moved)]

    first = said()
    Spring.force = lambda self: 50 * self.x
    Spring.energy = property(lambda self: 60 * self.x)
    Spring.gravity = 70.0
    Spring.moved = staticmethod(lambda x: x + 80)
    print(first, said())
"""


def test_what_the_class_has_is_found_again(tmp_path: Any) -> None:
    file = tmp_path / "program.py"
    environment = {"PYTHONPATH": ":".join(sys.path), "PYTOCU_CACHE_DIR": str(tmp_path / "cache"), "PATH": ""}
    for numbers in ((2.0, 3.0, 4.0, 5.0), (2.0, 3.0, 4.0, 5.0), (20.0, 30.0, 40.0, 50.0)):
        text = textwrap.dedent(CLASS_OF_PARTS)
        for name, number in zip(("FORCE", "ENERGY", "GRAVITY", "MOVED"), numbers, strict=True):
            text = text.replace(name, str(number))
        file.write_text(text)
        done = subprocess.run([sys.executable, str(file)], env=environment, capture_output=True, text=True, check=True)
        expected = [*numbers[:3], numbers[3] + 1]
        assert done.stdout.strip() == f"{expected} [50.0, 60.0, 70.0, 81.0]", done.stderr
