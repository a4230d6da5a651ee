"""Memory of large results on a CPU: who gets it, and when."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest

import pytocu
from pytocu.runtime import host_memory

LENGTH = host_memory.LEAST // 4
F32 = np.dtype(np.float32)


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    host_memory._blocks.clear()
    host_memory.limit.cache_clear()
    yield
    host_memory._blocks.clear()
    host_memory.limit.cache_clear()


def place(array: np.ndarray) -> int:
    return array.ctypes.data


def test_memory_of_a_result_that_is_gone_is_used_again() -> None:
    first = host_memory.new((LENGTH,), F32)
    where = place(first)
    second = host_memory.new((LENGTH,), F32)
    assert place(second) != where and where % 64 == place(second) % 64 == 0
    del first
    third = host_memory.new((2, LENGTH // 2), F32, "F")
    assert place(third) == where and third.flags.f_contiguous and third.strides == (4, 8)


def test_views_keep_the_memory() -> None:
    first = host_memory.new((LENGTH,), F32)
    first[:] = 1
    last = first[-3:].reshape(1, 3).view(np.int32)
    exported = memoryview(first)
    where = place(first)
    del first
    for _ in range(3):
        other = host_memory.new((LENGTH,), F32)
        other[:] = 2
        assert place(other) != where
    assert last.view(F32).tolist() == [[1, 1, 1]]
    del last
    assert place(host_memory.new((LENGTH,), F32)) != where
    exported.release()
    del exported
    assert where in {place(a) for a in [host_memory.new((LENGTH,), F32) for _ in range(4)]}


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTOCU_HOST_MEMORY", str(3 * host_memory.LEAST + 3 * 64))
    for _ in range(3):
        kept = [host_memory.new((LENGTH,), F32) for _ in range(5)]
        assert len({place(a) for a in kept}) == 5
        assert host_memory.held() <= 3 * (host_memory.LEAST + 64)
        del kept
    monkeypatch.setenv("PYTOCU_HOST_MEMORY", "0")
    host_memory.limit.cache_clear()
    host_memory._blocks.clear()
    assert host_memory.new((LENGTH,), F32).base is None and host_memory.held() == 0


def test_a_size_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTOCU_HOST_MEMORY", "much")
    with pytest.raises(pytocu.PytocuError, match="PYTOCU_HOST_MEMORY='much': write a size"):
        host_memory.limit()


def test_smaller_and_larger_results_have_their_own() -> None:
    where = place(host_memory.new((LENGTH,), F32))
    assert place(host_memory.new((2 * LENGTH,), F32)) != where
    large = place(host_memory.new((16 * LENGTH,), F32))
    assert place(host_memory.new((15 * LENGTH,), F32)) == large


def test_threads_never_share_memory() -> None:
    wrong: list[int] = []

    def work(number: int) -> None:
        for turn in range(60):
            mine = host_memory.new((LENGTH,), F32)
            mine[:: LENGTH // 8] = 100 * number + turn
            again = host_memory.new((LENGTH,), F32)
            again[:: LENGTH // 8] = -1
            if not (mine[:: LENGTH // 8] == 100 * number + turn).all():
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_results_of_calls() -> None:
    double = pytocu.jit(lambda x: x * 2)
    x = np.arange(LENGTH, dtype=F32)
    double(x), double(x)
    first = double(x)
    where = place(first)
    tail = first[1:]
    second = double(x + 1)
    np.testing.assert_array_equal(first, x * 2)
    np.testing.assert_array_equal(second, (x + 1) * 2)
    del first, second
    third = double(x + 2)
    assert place(third) != where
    np.testing.assert_array_equal(tail, (x * 2)[1:])
    del tail, third
    assert any(place(a) == where for a in [double(x) for _ in range(4)])


def test_temporaries_of_a_plan_share_memory() -> None:
    def steps(u: np.ndarray) -> np.ndarray:
        for _ in range(6):
            u = (u[::-1] + u.sum()) * np.float32(0.5)
            u = np.cumsum(u)
        return u

    x = np.linspace(0, 1e-6, LENGTH, dtype=F32)
    compiled = pytocu.jit(steps)
    compiled(x)
    host_memory._blocks.clear()
    compiled(x)
    assert 0 < host_memory.held() < 6 * host_memory.LEAST
