"""Objects of classes, lists and dicts: made, changed and returned; what arguments hold is what NumPy's program leaves there."""

from __future__ import annotations

import copy
import subprocess
import sys
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import FrozenInstanceError, InitVar, asdict, astuple, dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.runtime.copying import _originals
from pytocu.testing.compare import compare

X, V = np.arange(5.0), np.linspace(1, 2, 5)


class Pair(NamedTuple):
    x: Any
    t: float


@dataclass
class Body:
    x: Any
    v: Any
    n: int = 3

    def step(self, dt: float) -> None:
        self.x = self.x + dt * self.v
        self.n += 1

    @property
    def place(self) -> Any:
        return self.x

    @place.setter
    def place(self, value: Any) -> None:
        self.x = value * 2


@dataclass(frozen=True)
class Fixed:
    x: Any
    y: float = 1.5


@dataclass
class World:
    body: Body
    wind: Any
    seen: list[Any] = field(default_factory=list)


@dataclass
class Late:
    COUNT: ClassVar[int] = 7
    a: Any
    scale: InitVar[float] = 2.0
    b: Any = field(init=False)
    m: int = field(default=4, kw_only=True)
    d: dict[str, Any] = field(default_factory=lambda: {"k": 1})

    def __post_init__(self, scale: float) -> None:
        self.b = self.a * scale * self.COUNT


class Plain:
    def __init__(self, x, k=2):
        self.x = x
        self.k = k
        self.total = x.sum()

    def grown(self):
        self.x = self.x * self.k
        return self


def made(p, dt):
    return Body(p.x + dt * p.v, v=p.v * 0.9), Fixed(p.x), [Fixed(p.v, 2.0)]


def replaced(f, t):
    return replace(f, y=f.y * 2), t._replace(x=t.x * 2)


def begun(a):
    first = Late(a, 3.0, m=5)
    first.d["z"] = a * 2
    first.d["k"] += 1
    return first, Late(a)


def plain(x):
    one = Plain(x).grown()
    return one.x, one.total, Plain(x, k=3).grown().k


def plain_returned(x):
    return Plain(x).grown()


def assigned(p, dt):
    p.x = p.x + dt * p.v
    p.v *= 0.9
    p.n += 1


def assigned_in_a_loop(p, dt, n):
    for _ in range(n):
        p.step(dt)
        p.v = p.v - dt * p.x
    return p


def assigned_on_a_side(p, c):
    if c > 0:
        p.x = p.x + 1
    else:
        p.v = p.v * 2
    if p.x.sum() > 12:
        p.n = 7
    return p


def assigned_until(p, tolerance):
    steps = 0
    while True:
        old = p.x
        p.x = 0.5 * (p.x + 2 / (p.x + 1))
        steps += 1
        if np.abs(p.x - old).max() < tolerance or steps > 50:
            break
    p.n = steps


def by_a_property(p):
    p.place = p.x + 1
    return p.place.sum()


def new_attribute(p):
    p.z = p.x * 3
    return p.z


def nested(w):
    w.body.x = w.body.x + 1
    w.wind = w.body.x * 2
    w.body = Body(w.wind, w.body.v, 9)
    w.body.n += 1
    w.seen.append(w.wind)
    return w.body


def several(bodies, dt, n):
    for _ in range(n):
        for body in bodies:
            body.step(dt)


def made_in_a_loop(x, n):
    p = Body(x, x * 0)
    for _ in range(n):
        p = Body(p.x + p.v, p.v - 0.1 * p.x, p.n + 1)
    return p


def changed_in_a_loop(x, n):
    p = Body(x, x * 0)
    for _ in range(n):
        p.x = p.x + p.v
        p.v = p.v - 0.1 * p.x
    return p


def fixed_in_a_loop(f, n):
    for _ in range(n):
        f = replace(f, x=f.x * 0.5, y=f.y + 1)
    return f.x, f.y


def made_on_a_side(p, c):
    if c > 0:
        q = Body(p.x + 1, p.v)
    else:
        q = Body(p.x, p.v * 2)
    q.x = q.x * 2
    return q


def returned_early(p, c):
    if c > 0:
        return Body(p.x + 1, p.v)
    return Body(p.x - 1, p.v)


def entries(s):
    s["x"] = s["x"] + 1
    s["k"] += 1
    s["y"] = (s["x"], None, "text")


def entries_in_a_loop(s, n):
    for _ in range(n):
        s["x"] = s["x"] * 0.5
        s["k"] += 1
        if s["k"] > 3:
            s["x"] = -s["x"]
    return s


def removed(s):
    s["new"] = s.pop("x") * 2
    s.update(z=1)


def put_back(s):
    s["k"] = s.pop("k") + 1
    s["new"] = s["x"]
    s["s"] = s.pop("s")


def swapped(a):
    a[0], a[1] = a[1], a[0]
    a.append(a[0] + 1)


def turned(a):
    a.insert(0, a[1] * 2)
    a.reverse()
    a.pop()
    a.pop()


def changed_twice(p, q):
    p.x = p.x * 2
    q.x = q.x * 3
    return q


def same_dict(d):
    d["a"]["x"] = d["a"]["x"] + 1
    d["b"]["x"] = d["b"]["x"] * 2
    return d["b"], d["a"] is d["b"]


def entries_of_a_dict():
    return {"x": X.copy(), "k": 1, "s": "text"}


def shared_entries():
    one = {"x": X.copy()}
    return {"a": one, "b": one}


def shared_by_results(x):
    inner = [x + 1]
    one = Plain(x)
    one.x = inner
    return inner, {"a": inner, "b": one}, one, (one, [one])


def body():
    return Body(X.copy(), V.copy())


PROGRAMS: list[tuple[Callable[..., Any], Callable[[], tuple[Any, ...]]]] = [
    (made, lambda: (body(), 0.1)),
    (replaced, lambda: (Fixed(X.copy()), Pair(V.copy(), 0.5))),
    (begun, lambda: (X.copy(),)),
    (plain, lambda: (X.copy(),)),
    (plain_returned, lambda: (X.copy(),)),
    (assigned, lambda: (body(), 0.1)),
    (assigned_in_a_loop, lambda: (body(), 0.1, 4)),
    (assigned_in_a_loop, lambda: (body(), 0.1, 0)),
    (assigned_on_a_side, lambda: (body(), 1)),
    (assigned_on_a_side, lambda: (body(), -1)),
    (assigned_until, lambda: (body(), 1e-9)),
    (by_a_property, lambda: (body(),)),
    (new_attribute, lambda: (body(),)),
    (nested, lambda: (World(body(), V.copy()),)),
    (several, lambda: ([body(), Body(V.copy(), X.copy()), body()], 0.1, 5)),
    (made_in_a_loop, lambda: (X.copy(), 4)),
    (made_in_a_loop, lambda: (X.copy(), 0)),
    (changed_in_a_loop, lambda: (X.copy(), 4)),
    (fixed_in_a_loop, lambda: (Fixed(X.copy()), 3)),
    (made_on_a_side, lambda: (body(), 1)),
    (made_on_a_side, lambda: (body(), -1)),
    (returned_early, lambda: (body(), 1)),
    (returned_early, lambda: (body(), -1)),
    (entries, lambda: (entries_of_a_dict(),)),
    (entries_in_a_loop, lambda: (entries_of_a_dict(), 5)),
    (removed, lambda: (entries_of_a_dict(),)),
    (put_back, lambda: (entries_of_a_dict(),)),
    (swapped, lambda: ([X.copy(), V.copy()],)),
    (turned, lambda: ([X.copy(), V.copy()],)),
    (changed_twice, lambda: (body(), body())),
    (changed_twice, lambda: (one := body(), one)),
    (same_dict, lambda: (shared_entries(),)),
    (shared_by_results, lambda: (X.copy(),)),
]


def alike(found: Any, wanted: Any, same: dict[int, Any]) -> None:
    """Equal, with the same objects in the same places."""
    assert type(found) is type(wanted)
    if isinstance(wanted, (list, dict)) or hasattr(wanted, "__dict__"):
        assert same.setdefault(id(wanted), (found, wanted))[0] is found
    if isinstance(wanted, dict):
        assert [*found] == [*wanted]
        alike((*found.values(),), (*wanted.values(),), same)
    elif isinstance(wanted, (tuple, list)):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            alike(one, other, same)
    elif hasattr(wanted, "__dict__"):
        assert [*vars(found)] == [*vars(wanted)]
        for one, other in zip(vars(found).values(), vars(wanted).values(), strict=True):
            alike(one, other, same)
    elif isinstance(wanted, str):
        assert found == wanted
    else:
        compare(found, wanted)


@pytest.mark.parametrize(("function", "arguments"), PROGRAMS)
def test_what_is_returned_and_what_arguments_hold(function: Callable[..., Any], arguments: Callable[[], Any]) -> None:
    compiled = pytocu.jit(function)
    for _ in range(2):
        wanted, found = arguments(), arguments()
        alike((compiled(*found), found), (function(*wanted), wanted), {})


def test_arguments_that_are_returned_are_the_objects() -> None:
    one, both = body(), [X, V]
    found = pytocu.jit(lambda p, a: (p, (p, [p.x]), a, p.v))(one, both)
    assert found[0] is one and found[1][0] is one and found[1][1][0] is one.x and found[2] is both and found[3] is one.v


def test_nothing_changes_where_the_function_raises() -> None:
    def wrong(p: Any) -> None:
        p.x = p.x + 1
        p.v = p.v + np.ones(3)

    one = body()
    with pytest.raises(ValueError, match="could not be broadcast"):
        pytocu.jit(wrong)(one)
    alike(one, body(), {})


def test_a_frozen_object_does_not_change() -> None:
    def changed(f: Any) -> None:
        f.x = f.x + 1

    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
        pytocu.jit(changed)(Fixed(X))


@dataclass
class Checked:
    x: Any

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)


def sets_checked(p):
    p.x = p.x + 1


def choose_of_two(p, q, c):
    if c > 0:
        p = q
    p.x = p.x + 1


def more_on_a_side(p, c):
    if c > 0:
        p.z = p.x * 2


def key_of_two(d):
    d[1, 2] = d["x"] + 1


@pytest.mark.parametrize(
    ("function", "arguments", "said"),
    [
        (sets_checked, (Checked(X),), "defines __setattr__"),
        (choose_of_two, (body(), body(), 1), "that may be one that has other names"),
        (more_on_a_side, (body(), 1), "an object gets other attributes in a branch"),
        (key_of_two, ({"x": X},), r"the member \(1, 2\) of a dict that is an argument"),
    ],
)
def test_what_is_refused(function: Callable[..., Any], arguments: tuple[Any, ...], said: str) -> None:
    kept = copy.deepcopy(arguments)
    with pytest.raises(UnsupportedError, match=said):
        pytocu.jit(function)(*arguments)
    alike(arguments, kept, {})


def test_wrong_arguments_of_a_class() -> None:
    with pytest.raises(TypeError, match=r"Body.__init__\(\) missing 1 required positional argument: 'v'"):
        pytocu.jit(lambda x: Body(x))(X)


def test_objects_hold_the_callers_arrays_behind_a_copy_to_a_device() -> None:
    one = object()
    found: Any = _originals(Plain(X), [one], [X])
    assert found.x is X


CLASS = """
    from dataclasses import dataclass
    from typing import Any
    import sys
    import numpy as np
    import pytocu

    @dataclass
    class Pair:
        FIELDS
        scale: float = SCALE

    @pytocu.jit
    def f(x):
        return Pair(x, 2 * x)

    @pytocu.jit
    def g(p):
        p.a = p.a * p.scale
        return p

    found = f(np.ones(2))
    same = g(found) is found
    print(found, same, "pytocu.driver" in sys.modules)
"""


def test_another_process_knows_the_class(tmp_path: Any) -> None:
    file = tmp_path / "program.py"
    environment = {"PYTHONPATH": ":".join(sys.path), "PYTOCU_CACHE_DIR": str(tmp_path / "cache"), "PATH": ""}
    said = []
    for fields, scale in (("ab", 3.0), ("ab", 3.0), ("ba", 3.0), ("ba", 5.0)):
        text = textwrap.dedent(CLASS).replace("FIELDS", f"{fields[0]}: Any\n    {fields[1]}: Any").replace("SCALE", str(scale))
        file.write_text(text)
        done = subprocess.run([sys.executable, str(file)], env=environment, capture_output=True, text=True, check=True)
        said.append(done.stdout.strip())
    assert said == [
        "Pair(a=array([3., 3.]), b=array([2., 2.]), scale=3.0) True True",
        "Pair(a=array([3., 3.]), b=array([2., 2.]), scale=3.0) True False",
        "Pair(b=array([1., 1.]), a=array([6., 6.]), scale=3.0) True True",
        "Pair(b=array([1., 1.]), a=array([10., 10.]), scale=5.0) True True",
    ]


class Layer(ABC):
    rate = 3.0

    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[str, Any] = {}

    @abstractmethod
    def forward(self, x: Any) -> Any:
        self.seen["x"] = x
        return x + self.rate

    @property
    def two(self) -> float:
        return 2.0

    @staticmethod
    def next(x: Any) -> Any:
        return x + 1

    @classmethod
    def scaled(cls, x: Any) -> Any:
        return x * cls.rate


class Dense(Layer):
    rate = 5.0

    def __init__(self, weight: Any) -> None:
        super(Dense, self).__init__()  # noqa: UP008
        self.weight = weight

    def forward(self, x: Any) -> Any:
        return super().forward(x @ self.weight) * super().two + super().next(x) + super().scaled(x) + super().rate

    def twice(self) -> list[float]:
        return [super(Dense, self).two for _ in range(2)]


class Deep(Dense):
    def forward(self, x: Any) -> Any:
        return super().forward(super().forward(x))

    def lost(self) -> Any:
        return super().lost()  # pyright: ignore[reportAttributeAccessIssue]


def of_layers(x: Any) -> Any:
    layers = [Dense(np.eye(5) * k) for k in (1, 2)]
    for layer in (*layers, Deep(np.eye(5))):
        x = layer.forward(x)
    return x, layers[1].seen["x"], layers[0].twice()


def test_methods_of_the_class_behind() -> None:
    compare(pytocu.jit(of_layers)(X), of_layers(X))
    jitted = pytocu.jit(lambda x: Dense(np.eye(5)).forward(x))
    before = jitted(X)
    # What `super().rate` finds; the rate of the object itself is that of its own class.
    Layer.rate = 4.0
    try:
        compare(jitted(X), Dense(np.eye(5)).forward(X))
        compare(jitted(X), before + 1)
    finally:
        Layer.rate = 3.0


@pytest.mark.parametrize(
    ("function", "error", "said"),
    [
        (lambda x: Layer(), TypeError, "Can't instantiate abstract class Layer"),  # pyright: ignore[reportAbstractUsage]
        (lambda x: Deep(x).lost(), AttributeError, "'super' object has no attribute 'lost'"),
        (lambda x: super().lost(x), RuntimeError, "super(): __class__ cell not found"),  # pyright: ignore
        (lambda x: super(Deep, Dense(x)).two, TypeError, "must be an instance or subtype of type"),
        (lambda x: super(Deep).two, UnsupportedError, "super() of one argument"),  # pyright: ignore
    ],
)
def test_errors_of_classes_behind(function: Callable[..., Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error) as caught:
        pytocu.jit(function)(X)
    assert said in str(caught.value)


@dataclass
class Whole:
    inner: Pair
    body: Any
    names: Any = ("a", 1)


@dataclass
class Part:
    x: Any
    parts: Any


def taken_apart(one):
    made, named = astuple(one), asdict(one)
    x, _ = made[1]
    x[0] = 99
    named["body"]["parts"].append(named["inner"].x * 2)
    return made, named, one


def test_dataclasses_as_tuples_and_dicts() -> None:
    """The arrays in them are copies, and lists, too."""
    one, same = (Whole(Pair(X.copy(), 2.0), Part(V.copy(), [V.copy(), 1])) for _ in range(2))
    assert repr(pytocu.jit(taken_apart)(one)) == repr(taken_apart(same))
    assert repr(one) == repr(same)
    with pytest.raises(TypeError, match=r"astuple\(\) should be called on dataclass instances"):
        pytocu.jit(lambda x: astuple(x))(X)  # pyright: ignore[reportArgumentType]
    with pytest.raises(UnsupportedError, match="asdict with another dict_factory"):
        pytocu.jit(lambda one: asdict(one, dict_factory=list))(one)


class Held:
    def __init__(self, x: Any):
        self.x = x


def test_an_argument_of_a_class_that_is_no_dataclass() -> None:
    with pytest.raises(pytocu.CompileError) as caught:
        pytocu.jit(lambda one: one.x * 2)(Held(X))
    assert "the array Held.x is held by an argument of the class Held, which is no dataclass" in str(caught.value)
    assert "@dataclasses.dataclass" in (caught.value.help or "")
