"""Runs one native function over a range of iterations, on all CPUs this process may use.

The range is cut into pieces, and idle threads take some of them, fewer and fewer, until none is left; the calling
thread takes pieces too, so a call finishes even when no other thread is free.  Results do not depend on
the cut: an iteration computes the same bits whoever runs it.
"""

from __future__ import annotations

import ctypes
import os
import threading
from contextlib import suppress
from functools import lru_cache
from queue import Empty, SimpleQueue
from time import perf_counter
from typing import Any

from pytocu import config
from pytocu.errors import PytocuError

# CFUNCTYPE (and not PYFUNCTYPE) releases Python's lock while the function runs.
_KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)

# The cut depends on the size alone, so that nothing else can change a result.
_PIECES = 128
# Waking a thread takes as long as this much work; a thread that is woken should find more.
_SECONDS_TO_WAKE = 40e-6
# What the smallest piece takes at least: a load and a store of each element from the caches.
_LEAST_SECONDS = 6e-6
# Taking pieces costs a few microseconds of Python, which one thread at a time runs.
_SECONDS_TO_TAKE = 30e-6
# How long the number of threads is taken to be what it was: every launch asks for it, and a look at the environment takes
# longer than the rest of a launch.
_SECONDS_TO_TRUST = 0.2
# What a thread takes at once is at most this part of its share of what is left.
_PARTS = 4
# Pieces end on multiples of this, so that two threads rarely write to one cache line.
_ALIGNMENT = 64


def native(address: int) -> Any:
    """The kernel at an address as a callable ``(slots, begin, end)`` that releases Python's lock.

    It keeps the address object, and with it the code that the object keeps loaded.
    """
    function: Any = _KERNEL(address)
    function.address = address
    return function


_WORDS = bytes.__basicsize__ - 1
"""Where the words of a bytes object are: behind its head, before the zero that ends them."""


def address_of(slots: bytes) -> int:
    """Where the slots of a launch are, as long as they are kept.

    Examples
    --------
    >>> ctypes.string_at(address_of(b"12345678"), 8)
    b'12345678'
    """
    return id(slots) + _WORDS


def run(address: int, slots_address: int, total: int, minimum: int) -> None:
    """Run ``void kernel(void *slots, int64_t begin, int64_t end)`` over ``total`` iterations.

    Returns when every iteration has been run.  After an interrupt (Ctrl-C) it waits for the
    pieces that are running, because they write to the caller's arrays, and then raises.

    Parameters
    ----------
    address, slots_address : int
        The function and its first argument; both stay valid until the call returns.
    total : int
        Number of iterations.
    minimum : int
        Fewest iterations of a piece.

    Notes
    -----
    What an iteration costs is not known beforehand, so the calling thread begins alone, unless there are
    very many of them, and looks at the clock: other threads are woken when what is left takes longer than
    waking them, and as many of them as have something to do then.
    """
    spread(_KERNEL(address), slots_address, total, minimum)


def spread(kernel: Any, slots_address: int, total: int, minimum: int) -> None:
    """The same with the kernel as :func:`native` gives it."""
    minimum = max(minimum, 1)
    if total < 2 * minimum or _threads() == 1:
        if total > 0:
            kernel(slots_address, 0, total)
        return
    size = max(minimum, -(-total // _PIECES))
    # Where few iterations are a piece each writes more than a cache line.
    alignment = _ALIGNMENT if minimum >= _ALIGNMENT else 1
    size = -(-size // alignment) * alignment
    # So much work is long whatever an iteration costs.
    early = int(total // minimum * (_LEAST_SECONDS / _SECONDS_TO_WAKE))
    begin, helpers, least = 0, 0, 0
    if early > 0:
        helpers = min(early, _threads() - 1)
    else:
        end = min(size, total)
        while True:
            start = perf_counter()
            kernel(slots_address, begin, end)
            spent, done, begin = perf_counter() - start, end - begin, end
            if begin >= total:
                return
            helpers = _helpers(spent / done * (total - begin), total - begin, size)
            if helpers > 0:
                helpers = min(helpers, _threads() - 1)
                least = int(_SECONDS_TO_TAKE / max(spent, 1e-9) * done)
                break
            # The clock is read again, because iterations may differ.
            end = min(begin + 2 * done, total)
    if helpers < 1:
        kernel(slots_address, begin, total)
        return
    job = _Job(kernel, slots_address, begin, total, size, least, _PARTS * (helpers + 1))
    try:
        try:
            _pool.ask(job, helpers)
            if begin == 0:
                start = perf_counter()
                done = job.work_once()
                spent, left = perf_counter() - start, total - job.next
                more = min(_helpers(spent / max(done, 1) * left, left, size), _threads() - 1) - helpers
                if more > 0:
                    job.parts = _PARTS * (helpers + more + 1)
                    _pool.ask(job, more)
            job.work()
        finally:
            job.finish()
    finally:
        # An interrupt may have cut the first one short before it began to wait.
        job.finish()


def together(kernel: Any, slots_address: int, helpers: int) -> None:
    """Run a kernel whose iterations know each other: the first here, one in each thread of the pool that is free.

    The first one needs none of the others, and ends them all when it ends.

    Parameters
    ----------
    kernel : callable
        As :func:`native` gives it.
    slots_address : int
    helpers : int
        Other threads, at most.
    """
    job = _Job(kernel, slots_address, 1, helpers + 1, 1, 1, helpers + 1)
    try:
        if helpers > 0:
            _pool.ask(job, helpers)
        kernel(slots_address, 0, 1)
    finally:
        job.finish()


def others() -> int:
    """How many threads can help the calling one."""
    return _threads() - 1


def alone() -> bool:
    """Whether no other thread can help the calling one."""
    return _threads() == 1


def _helpers(seconds: float, left: int, size: int) -> int:
    """How many other threads have something to do while `left` iterations, in pieces of a size, take some seconds."""
    return min(int(seconds / _SECONDS_TO_WAKE), -(-left // size) - 1)


class _Job:
    """A range of iterations, and how many threads entered and left the kernel for it.

    Locks here are C objects: an interrupt inside a lock written in Python (a condition, an
    event) could leave it taken for ever.
    """

    def __init__(self, kernel: Any, slots: int, begin: int, total: int, size: int, least: int, parts: int):
        self.kernel = kernel
        self.slots = slots
        self.total = total
        self.size = size
        self.least = least
        self.parts = parts
        self.next = begin
        self.entered = 0
        self.left = 0
        self.lock = threading.Lock()
        self.wake: SimpleQueue[None] = SimpleQueue()

    def help(self) -> None:
        """Take pieces in a thread of the pool; none are left when the job is over."""
        with self.lock:
            self.entered += 1
        try:
            self.work()
        finally:
            with self.lock:
                self.left += 1
            self.wake.put(None)

    def work(self) -> None:
        """Run pieces until none is left."""
        while self.work_once():
            pass

    def work_once(self) -> int:
        """Run one piece; how many iterations it had."""
        with self.lock:
            begin = self.next
            wanted = max(self.least, (self.total - begin) // self.parts, 1)
            self.next = end = min(begin + -(-wanted // self.size) * self.size, self.total)
        if begin < end:
            self.kernel(self.slots, begin, end)
        return end - begin

    def finish(self) -> None:
        """Give out no more pieces and wait for those that run, whatever interrupts the wait."""
        interrupt: BaseException | None = None
        while True:
            try:
                with self.lock:
                    self.next = self.total
                while self.left < self.entered:
                    # An interrupt may swallow a wake-up, so none is waited for without end.
                    with suppress(Empty):
                        self.wake.get(timeout=0.1)
                break
            except KeyboardInterrupt as error:
                interrupt = error
        if interrupt is not None:
            raise interrupt


class _Pool:
    """Threads that wait for jobs; more are started when a job can use them."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.jobs: SimpleQueue[tuple[_Job, int]] = SimpleQueue()
        self.size = 0

    def ask(self, job: _Job, helpers: int) -> None:
        """Let up to `helpers` threads take part; each comes when it is free."""
        # When the system gives no more threads, those there are do the work.
        with self.lock, suppress(RuntimeError):
            while self.size < helpers:
                threading.Thread(target=_serve, args=(self.jobs,), name=f"pytocu-{self.size}", daemon=True).start()
                self.size += 1
        # Jobs that are over wait here for a busy thread to drop them, so they are bounded.
        if self.jobs.qsize() < 64:
            self.jobs.put((job, helpers))


def _serve(jobs: SimpleQueue[tuple[_Job, int]]) -> None:
    while True:
        job, helpers = jobs.get()
        # Each thread wakes two more before it works: the caller pays for one, and the last comes after a few steps.
        half = helpers // 2
        for share in (helpers - 1 - half, half):
            if share > 0 and job.next < job.total:
                jobs.put((job, share))
        job.help()
        # Waiting for the next job, the thread must not keep the kernel's code loaded.
        del job


_pool = _Pool()
_counted = 0, 0.0


def _renew_pool() -> None:
    # Threads do not survive a fork, and a lock may be held by one that is gone.
    global _pool
    _pool = _Pool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_pool)


def _threads() -> int:
    """:func:`thread_count`, which asks the environment and the system, as it was a moment ago."""
    global _counted
    now = perf_counter()
    count, until = _counted
    if now >= until:
        count = thread_count()
        _counted = count, now + _SECONDS_TO_TRUST
    return count


def thread_count() -> int:
    """How many threads a kernel is spread over.

    ``PYTOCU_NUM_THREADS`` if set, else the CPUs this process may run on, less where a control
    group allows less CPU time.

    Raises
    ------
    PytocuError
        The variable is no positive number.
    """
    text = config.get("num_threads").strip()
    if text:
        if not text.isascii() or not text.isdigit() or int(text) < 1:
            raise PytocuError(f"PYTOCU_NUM_THREADS={text!r}: write a number of threads, 1 or more")
        return int(text)
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = _cpu_quota()
    return cpus if quota is None else max(1, min(cpus, quota))


@lru_cache(maxsize=1)
def _cpu_quota() -> int | None:
    return cpu_quota("/proc/self/cgroup", "/sys/fs/cgroup")


def cpu_quota(membership: str | os.PathLike[str], mount: str | os.PathLike[str]) -> int | None:
    """CPUs' worth of time that control groups allow, rounded up; None for no limit.

    Parameters
    ----------
    membership : path
        The process's list of groups, ``/proc/self/cgroup``.
    mount : path
        Where the groups are visible, ``/sys/fs/cgroup``.
    """
    limits: list[float] = []
    for line in _text(membership).splitlines():
        number, controllers, path = line.split(":", 2)
        if number == "0" and not controllers:
            root, read = os.fspath(mount), _quota_v2
        elif "cpu" in controllers.split(","):
            places = (os.path.join(mount, controllers), os.path.join(mount, "cpu"))
            root = next((p for p in places if os.path.isdir(p)), os.fspath(mount))
            read = _quota_v1
        else:
            continue
        # A container may see its own group as the root, where the path does not exist.
        parts = path.strip("/").split("/") if path.strip("/") else []
        for depth in range(len(parts) + 1):
            limit = read(os.path.join(root, *parts[:depth]))
            if limit is not None:
                limits.append(limit)
    return max(1, int(-(-min(limits) // 1))) if limits else None


def _quota_v2(group: str) -> float | None:
    quota, _, period = _text(os.path.join(group, "cpu.max")).strip().partition(" ")
    return _ratio(quota, period)


def _quota_v1(group: str) -> float | None:
    quota, period = (_text(os.path.join(group, f"cpu.cfs_{name}_us")).strip() for name in ("quota", "period"))
    return _ratio(quota, period)


def _ratio(quota: str, period: str) -> float | None:
    if not quota.isdigit() or not period.isdigit() or int(period) == 0:
        return None
    return int(quota) / int(period)


def _text(path: str | os.PathLike[str]) -> str:
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""
