"""Random expressions of views, gathers, joins and generated values give what NumPy gives, or its errors."""

from __future__ import annotations

import random
import warnings
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.ir import interp
from pytocu.testing.compare import compare
from pytocu.testing.operands import make_function

FIRST = (
    "x", "x * 2", "x[::-1]", "x + np.arange(x.shape[1])", "np.roll(x, {k}, {axis})",
    "np.pad(x, (({p}, {q}), ({q}, {p})), mode={mode!r})", "np.concatenate([x, y], {axis})", "np.tile(x, ({n}, 2))",
    "np.repeat(x, {n}, {axis})", "np.take(x, i, {axis})", "x.take(i, {axis}, mode='wrap')", "np.diff(x, 1, {axis})",
    "np.tril(x, {k})", "np.triu(x, {k})", "x[:, j]", "x[i0]",
)  # fmt: skip
THEN = (
    "({0}).T", "({0}).reshape(-1)", "np.ravel({0})[::2]", "({0})[None]", "np.concatenate([{0}, {0}], -1)",
    "np.concatenate([{0}, {1}], None)", "np.stack([{0}, {0}], 1)", "np.roll({0}, {k})", "np.repeat({0}, 2)",
    "np.diag({0}, {k})", "({0}).reshape(-1, 1)", "np.outer({0}, {1})", "({0}) * 2 + 1", "np.kron({0}, y)",
    "np.flip({0}, 0)", "np.diagonal({0}, {k})",
    "np.where(({0}) > 3, {0}, 0)", "np.rot90({0}, {k})", "({0}).sum(0)",
)  # fmt: skip


def expression(choose: random.Random) -> str:
    names = {"k": choose.choice([-3, -1, 0, 1, 2, 9]), "axis": choose.choice([0, 1]), "p": choose.choice([0, 1, 4])}
    names |= {"q": choose.choice([0, 2]), "n": choose.choice([0, 1, 2, 3])}
    names["mode"] = choose.choice(["constant", "edge", "reflect", "symmetric", "wrap"])
    made, other = (choose.choice(FIRST).format(**names) for _ in range(2))
    for _ in range(choose.choice([0, 1, 1, 2])):
        made = choose.choice(THEN).format(made, other, **names)
    return made


def arguments(choose: random.Random) -> tuple[np.ndarray, ...]:
    numbers = np.random.default_rng(choose.randrange(10**6))
    rows, columns = choose.choice([0, 1, 2, 3, 5]), choose.choice([0, 1, 2, 4, 7])
    dtype = choose.choice(["f8", "f4", "i4", "u1", "c8", "f2", "i8"])
    x, y = (numbers.integers(0, 50, (rows, columns)).astype(d) for d in (dtype, choose.choice([dtype, "f8", "i2"])))
    if choose.random() < 0.3:
        x = np.asfortranarray(x)

    def places(length: int, shape: tuple[int, ...]) -> np.ndarray:
        return numbers.integers(-length, length, shape) if length else np.zeros((0,) * len(shape), np.int64)

    either = places(choose.choice([rows, columns]), (choose.choice([0, 1, 3]),))
    return x, y, either, places(columns, (2,)), places(rows, (3, 1))


@pytest.mark.parametrize("seed", range(12))
def test_random_expressions(seed: int) -> None:
    choose = random.Random(seed)
    for _ in range(6):
        text, given = expression(choose), arguments(choose)
        function = make_function(("x", "y", "i", "j", "i0"), [text], {"np": np})
        wanted: Any
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                wanted = function(*given)
            except (ValueError, IndexError) as error:
                wanted = error
        compiled = pytocu.jit(function)
        if isinstance(wanted, Exception):
            with pytest.raises((ValueError, IndexError)):
                compiled(*given)
            continue
        try:
            compare(compiled(*given), wanted, exact="sum" not in text, ulp=4)
        except UnsupportedError:
            continue
        lowered = compiled.lower(*given)
        for target in ("cpu", "cuda"):
            host = lowered.host(target)
            made = interp.arrange(host.body.terminator.attr("tree"), interp.run(host, given))
            compare(made, wanted, exact="sum" not in text, ulp=4)
