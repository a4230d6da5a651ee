"""Texts of exceptions that show values of a run: Python's own, whatever they show and however it is written."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mask_tools import builds, everywhere
from raising_programs import of_python

import pytocu
from pytocu.cli.main import main
from pytocu.errors import UnsupportedError
from pytocu.sentences import renumbered, said


@pytest.mark.parametrize("n", range(20))
@pytest.mark.parametrize("h", [2.5, -0.0, math.inf, math.nan, 1e300, 5e-324])
def test_numbers_of_python(n: int, h: float) -> None:
    given = (n, h, complex(h, -1.5), n % 2 == 0)
    if math.isfinite(h) or n not in (3, 14):
        everywhere(of_python, *given)
    if n in (3, 14) and not math.isfinite(h):
        # Neither has an int for it.
        with pytest.raises((OverflowError, ValueError)) as expected:
            of_python(*given)
        with pytest.raises(expected.type, match=str(expected.value)):
            pytocu.jit(of_python)(*given)


def of_numpy(x, n):
    """NumPy's scalars, shapes, and arrays of few elements."""
    if n == 1:
        raise ValueError(f"{x[1]} {x[1]!r} {x.max()!s:>12} {x.shape} {len(x)} {x.dtype} {x[0] == x[1]}")
    if n == 2:
        raise ValueError("%s %r %s" % (x[0], x[1], (n, x[2])))  # noqa: UP031
    if n == 3:
        raise ValueError("{0.shape} {0[1]} {1.size}".format(x, x[:2]))  # noqa: UP032
    if n == 4:
        raise ValueError(x[1], [x[2]], (x.shape, x.ndim))
    if n == 5:
        y = np.array([x[0], x[1]]) * x[2]
        raise ValueError(f"{y} {y * 3!r}")
    if n == 6:
        raise ValueError(f"{np.full((1, 1), x[1])!r} {np.asarray(x[1])} {np.asarray(x[1])!r}")
    if x[2] == x[0] + x[1]:
        y = x * 2
        raise ValueError(f"{y[1]} of {y.max()} behind {n}")
    return x * 2


@pytest.mark.parametrize("n", range(8))
@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"])
def test_scalars_of_numpy(n: int, dtype: str) -> None:
    everywhere(of_numpy, np.array([1, 100, 101]).astype(dtype), n)


@pytest.mark.parametrize("value", [math.nan, -math.inf, 5e-324, -0.0, 0.1])
def test_floats_of_numpy(value: float) -> None:
    for dtype in (np.float64, np.float32, np.float16):
        everywhere(of_numpy, np.array([1, value, 3], dtype), 1)


def numbers_of_eight_bytes(x):
    raise ValueError(f"{x[0]} {x[1]}")


def test_integers_at_their_ends() -> None:
    everywhere(numbers_of_eight_bytes, np.array([-(2**63), 2**63 - 1]))
    everywhere(numbers_of_eight_bytes, np.array([0, 2**64 - 1], np.uint64))


def in_steps(x, n):
    total = 0.0
    for i in range(n):
        total += x[i]
        if x[i] < 0:
            raise ValueError(f"element {i} is {x[i]}, {float(x[i]):.2f} of {total}")
    return x * 2


def behind_changes(x, n):
    y = np.zeros(3)
    for k in range(n):
        y[:] = x[:3] * k + y
        if y.max() > 20:
            raise RuntimeError(f"{y.max():.3e} in step {k}: {y[:2]}")
    return y


def grows(x, n):
    t = 0.5
    while True:
        t = t * 1.5
        n -= 1
        if n < 0:
            raise RuntimeError(f"{t} behind {n}, {x.mean()}")


def in_a_helper(x, n):
    def checked(v, name):
        if v < 0:
            raise ValueError(f"{name} must not be negative: got {v}")
        return v

    return checked(x[0], "first") + checked(n, "n") + checked(x.sum(), "sum")


def behind_what_may_fail(x, n):
    if n < 3:
        m = n // (n - 1)
        raise ValueError(f"{m} {x[m]} {x.sum()}")
    return x + n


@pytest.mark.parametrize("program", [in_steps, behind_changes, grows, in_a_helper, behind_what_may_fail])
@pytest.mark.parametrize("n", [0, 1, 2, 5, -1])
@pytest.mark.parametrize("x", [np.array([0.1, 2, 3, 4, 5]), np.array([0.25, -1, 3, -4, 100], "f4")], ids=str)
def test_where_programs_raise(program: Callable[..., Any], n: int, x: np.ndarray) -> None:
    everywhere(program, x, n)


def test_kernels_that_note_the_words() -> None:
    builds(in_steps, np.ones(4), 3)
    builds(in_steps, np.ones(4, np.float16), 3)


def shows_an_array(x, n):
    if n > 3:
        raise ValueError(f"n is {n} of {x}")
    return x


def shows_an_array_for_certain(x, n):
    raise ValueError(f"n is {n} of {x}")


def test_what_texts_do_not_show_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="a string cannot show an array") as caught:
        pytocu.jit(shows_an_array)(np.ones(3), 1)
    assert caught.value.loc is not None and caught.value.loc.line == shows_an_array.__code__.co_firstlineno + 2
    assert caught.value.help is not None and "elements: x[0]" in caught.value.help
    with pytest.raises(ValueError, match="n is <weak int> of <f64"):
        pytocu.jit(shows_an_array_for_certain)(np.ones(3), 1)


def cut(x, n):
    if n > 3:
        raise ValueError(f"{str(n):>10}")  # noqa: RUF010
    return x


def made_before(x, n):
    error = ValueError(n)
    if n > 3:
        raise error
    return x


@pytest.mark.parametrize(("program", "said"), [(cut, "is brought to a length"), (made_before, "not raised where it is made")])
def test_what_is_refused(program: Callable[..., Any], said: str) -> None:
    with pytest.raises(UnsupportedError, match=said):
        pytocu.jit(program)(np.ones(3), 1)


SOURCE = """
import numpy as np, pytocu

@pytocu.jit
def checked(x, h):
    if x.max() > h:
        raise ValueError(f"{x.max()} is above {h:.2f}, of {x.shape}: {(h, x[0])}")
    return x * h
"""
CALL = """
for limit in (9.0, 2.5):
    try:
        print(checked(np.arange(4.0), limit))
    except ValueError as error:
        print(str(error).splitlines()[0])
"""
SAID = "[ 0.  9. 18. 27.]\n3.0 is above 2.50, of (4,): (2.5, np.float64(0.0))\n"


def test_texts_in_the_cache_and_in_bundles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTOCU_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", str(Path(pytocu.__file__).parents[1]))
    file = tmp_path / "source.py"
    file.write_text(SOURCE)
    program = "import sys, numpy as np; from source import checked\n" + CALL
    # The second time no compiler is there.
    for words in ("", "import sys; sys.modules['llvmlite'] = None; sys.modules['pytocu.driver'] = None\n"):
        done = subprocess.run([sys.executable, "-c", words + program], capture_output=True, text=True, cwd=tmp_path)
        assert done.stdout == SAID, done.stderr
    assert main(["build", f"{file}:checked", "--args", "f64[n], weak float", "-o", str(tmp_path / "bundle")]) == 0
    file.unlink()
    checked = pytocu.load(tmp_path / "bundle").checked
    with pytest.raises(ValueError) as caught:
        checked(np.arange(4.0), 2.5)
    assert str(caught.value).splitlines()[0] == SAID.splitlines()[1]


def test_sentences() -> None:
    sentence = "{{0}} {0} {tuple/2 1 list/1 truth 2!r:>{3}}{known/61 %s}{dict/1 known/62 float32 2}"
    numbers = (5, 6, 1, 12)
    assert said(sentence, numbers) == "{0} 5  (6, [True])a{b: np.float32(1e-45)}"
    assert said(renumbered(sentence, 4), (0, 0, 0, 0, *numbers)) == said(sentence, numbers)


def divided(a, b):
    return divmod(a, b)


def divided_in_steps(x, b):
    t = 0.0
    for k in range(len(x)):
        q, r = divmod(float(x[k]), b)
        t += q - r
    return t


def test_divmod_of_floats_and_zeros() -> None:
    for a, b in ((1.5, 0.0), (1.5, 0), (3, 0.0), (True, 0.0), (3, 0), (-2.5, 0.75), (3, -0.5), (math.inf, 2.0), (2, math.nan)):
        everywhere(divided, a, b)
    for b in (0.0, 0.75):
        everywhere(divided_in_steps, np.arange(5.0), b)
        everywhere(divided_in_steps, np.zeros(0), b)


def _named(*values):
    return values


UNPACKED = (
    lambda n: _named(*n), lambda n: _named(1, *n), lambda n: _named(**n), lambda n: np.maximum(*n), lambda n: np.maximum(n, *n),
    lambda n: max(*n), lambda n: [*n], lambda n: (1, *n), lambda n: math.hypot(*n), lambda n: np.zeros(3).sum(*n),
    lambda n: n.conjugate(*n), lambda n: np.float32(n).sum(*n), lambda n: np.sum(np.zeros(3), **n),
    lambda n: (lambda *v: v)(*n), lambda n: _named(*None),
)  # fmt: skip


@pytest.mark.parametrize("number", range(len(UNPACKED)))
def test_what_a_star_cannot_unpack(number: int) -> None:
    for value in (3, 2.5, True):
        everywhere(UNPACKED[number], value)
