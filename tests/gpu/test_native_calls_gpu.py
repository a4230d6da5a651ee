"""Calls that native code makes, on a real GPU: other arrays, streams, contexts, captures, threads, failures."""

from __future__ import annotations

import sys
import threading
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.runtime import dispatch

pytestmark = pytest.mark.gpu

F = np.random.default_rng(0).random((6, 8)).astype(np.float32)


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second call of a signature that its class of sizes has is the last one that Python makes."""
    monkeypatch.setattr(dispatch, "CALLS_BEFORE", 1)


def five_operations(x, y, z, a):
    return 2.5 * a * x + y * z - 1


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def into(x, a, out):
    out[...] = x * a + out


def sums(x):
    return x.sum(), x.max(axis=0), x


def gather(x, i):
    return x[i] * 2


def half(x):
    return x[::2], x.T


def half_and_more(x):
    return x[1:3], x * 2


def chosen(x, how):
    return x + 1 if how == "more" else x - 1


class Scaled:
    """An object whose attribute the code is compiled for."""

    def __init__(self, k: float):
        self.k = k

    @pytocu.jit
    def __call__(self, x):
        return x * self.k


def by_python(function: Any) -> list[Any]:
    """What Python is asked for from now on."""
    seen: list[Any] = []
    python = function._calls.python

    def entry(*arguments: Any, **keywords: Any) -> Any:
        seen.append(arguments)
        return python(*arguments, **keywords)

    function._calls.entry = entry
    function._calls.state[1] = id(entry)
    return seen


def host(made: Any) -> Any:
    if isinstance(made, tuple):
        return tuple(host(m) for m in made)
    return made.get() if hasattr(made, "get") else made.cpu().numpy()


def same(made: Any, expected: Any) -> None:
    for one, other in zip(*((v if isinstance(v, tuple) else (v,)) for v in (made, expected)), strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape and np.array_equal(one, other, equal_nan=True)


@pytest.mark.parametrize("backend", ["nvvm", "cuda_c"])
@pytest.mark.parametrize("library", ["cupy", "torch"])
@pytest.mark.parametrize(
    ("function", "arguments"),
    [(five_operations, (F, F * 2, F * 3, 1.5)), (five_operations, (F[:, ::2], F[:, 1::2], F[:, ::2], 3)), (softmax, (F,)),
     (sums, (F,)), (gather, (F[0], np.array([3, 0, -1])))],
)  # fmt: skip
def test_the_answer_is_the_same(request, library, backend, function, arguments):
    to = request.getfixturevalue("cupy").asarray
    if library == "torch":
        torch = request.getfixturevalue("torch")
        to = lambda a: torch.from_numpy(a.copy()).cuda()  # noqa: E731
    compiled = pytocu.jit(function, backend=backend)
    given = [to(a) if isinstance(a, np.ndarray) else a for a in arguments]
    first = host(compiled(*given))
    for _ in range(5):
        same(host(compiled(*given)), first)
    assert len(compiled._calls.records) == 1
    seen = by_python(compiled)
    same(host(compiled(*given)), first)
    assert not seen


@pytest.mark.parametrize("library", ["cupy", "torch"])
@pytest.mark.parametrize("function", [half, half_and_more])
def test_views_share_the_memory_of_arguments(request, library, function):
    to = request.getfixturevalue("cupy").asarray
    if library == "torch":
        torch = request.getfixturevalue("torch")
        to = lambda a: torch.from_numpy(a.copy()).cuda()  # noqa: E731
    compiled, x = pytocu.jit(function), to(F)
    for _ in range(5):
        made = compiled(x)
        same(host(made), tuple(np.asarray(v) for v in function(F)))
    x[...] = 7
    assert (host(made[0]) == 7).all()
    y = to(F + 1)
    same(host(compiled(y)), tuple(np.asarray(v) for v in function(F + 1)))


def test_methods_and_known_values(cupy):
    x = cupy.asarray(F)
    one, other = Scaled(2.0), Scaled(3.0)
    compiled = pytocu.jit(chosen)
    for _ in range(5):
        same(host(one(x)), F * np.float32(2))
        same(host(other(x)), F * np.float32(3))
        same(host(compiled(x, "more")), F + 1)
        same(host(compiled(x, "less")), F - 1)
    one.k = -1.5
    same(host(one(x)), F * np.float32(-1.5))


def test_in_place_and_out(cupy):
    compiled = pytocu.jit(into)
    x, out, expected = cupy.asarray(F), cupy.zeros_like(F), np.zeros_like(F)
    for n in range(6):
        compiled(x, float(n), out=out)
        expected = F * np.float32(n) + expected
    assert np.array_equal(out.get(), expected)
    seen = by_python(compiled)
    memory = cupy.arange(60, dtype=np.float32)
    theirs = memory.get()
    compiled(memory[:48].reshape(6, 8), 2.0, memory[4:52].reshape(6, 8))
    theirs[4:52] = theirs[:48] * 2 + theirs[4:52]
    assert np.array_equal(memory.get(), theirs) and len(seen) == 1


def test_the_current_stream_of_each_call(cupy, torch):
    compiled = pytocu.jit(five_operations)
    x = cupy.asarray(F)
    for _ in range(4):
        compiled(x, x, x, 1.5)
    seen = by_python(compiled)
    for stream in (cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream.null, cupy.cuda.Stream(non_blocking=True)):
        with stream:
            made = compiled(x, x, x, 3.0)
            stream.synchronize()
        assert np.array_equal(made.get(), five_operations(F, F, F, 3.0))
    with pytocu.stream(torch.cuda.Stream()):
        assert np.array_equal(compiled(x, x, x, 2.0).get(), five_operations(F, F, F, 2.0))
    assert not seen


def test_captured_into_a_graph(cupy):
    compiled = pytocu.jit(lambda x: (x - x.mean()) / x.std())
    x = cupy.asarray(np.random.default_rng(3).random(300_000, np.float32))
    for _ in range(4):
        expected = compiled(x)
    assert len(compiled._calls.records) == 1
    with cupy.cuda.Stream(non_blocking=True) as stream:
        compiled(x)
        stream.begin_capture()
        made = compiled(x)
        graph = stream.end_capture()
        made.fill(0)
        for _ in range(3):
            cupy.empty(300_000, np.float32).fill(7)
            graph.launch()
        stream.synchronize()
    assert np.array_equal(made.get(), expected.get())


def test_what_the_data_does_not_allow(cupy):
    compiled = pytocu.jit(gather)
    x, i = cupy.asarray(F[0]), cupy.asarray(np.array([1, 2]))
    for _ in range(4):
        compiled(x, i)
    compiled(x, cupy.asarray(np.array([1, 70])))
    with pytest.raises(IndexError, match="index 70 is out of bounds for axis 0 with size 8"):
        pytocu.synchronize()
    assert np.array_equal(compiled(x, i).get(), F[0][[1, 2]] * 2)


def test_another_context(cupy):
    from cuda.bindings import driver

    compiled = pytocu.jit(five_operations)
    x = cupy.asarray(F)
    for _ in range(4):
        compiled(x, x, x, 1.5)
    seen = by_python(compiled)
    takes = (driver.cuCtxCreate.__doc__ or "").count("ctxCreateParams") > 0
    status, context = driver.cuCtxCreate(None, 0, 0) if takes else driver.cuCtxCreate(0, 0)
    assert not int(status)
    try:
        made = compiled(x, x, x, 1.5)
        assert len(seen) == 1
    finally:
        driver.cuCtxDestroy(context)
    assert np.array_equal(made.get(), five_operations(F, F, F, 1.5))


def test_gradients_are_refused(torch):
    compiled = pytocu.jit(five_operations)
    x = torch.from_numpy(F).cuda()
    for _ in range(4):
        compiled(x, x, x, 1.5)
    with pytest.raises(pytocu.PytocuError, match="requires a gradient"):
        compiled(x.clone().requires_grad_(), x, x, 1.5)
    with pytest.raises(pytocu.PytocuError):
        compiled(x.to_sparse(), x, x, 1.5)


def test_sixteen_threads(cupy):
    compiled = pytocu.jit(five_operations)
    failures: list[Any] = []

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        try:
            with cupy.cuda.Stream(non_blocking=True) as stream:
                for _ in range(300):
                    x = rng.random(int(rng.integers(2, 8)), np.float32)
                    mine = cupy.asarray(x)
                    made = compiled(mine, mine, mine, float(seed))
                    stream.synchronize()
                    if not np.array_equal(made.get(), five_operations(x, x, x, float(seed))):
                        failures.append((seed, x))
        except BaseException as error:
            failures.append(error)
            raise

    threads = [threading.Thread(target=work, args=(n,)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_references_are_given_back(cupy):
    compiled = pytocu.jit(five_operations)
    x = cupy.asarray(F)
    for _ in range(4):
        compiled(x, x, x, 1.5)
    kept = (x, x.data, x.dtype, None, True, cupy.ndarray)
    before, used = list(map(sys.getrefcount, kept)), cupy.get_default_memory_pool().used_bytes()
    for _ in range(3000):
        compiled(x, x, x, 1.5)
    assert max(abs(a - b) for a, b in zip(map(sys.getrefcount, kept), before, strict=True)) < 20
    assert cupy.get_default_memory_pool().used_bytes() == used
