"""Work in threads of its own: results, errors, processes that end or are forked meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from pytocu import driver
from pytocu.ahead import Ahead
from pytocu.backend import libraries
from pytocu.errors import BackendError

ROOT = str(Path(__file__).resolve().parents[1])


def run(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A process that runs the script with pytocu on its path."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        env={**os.environ, "PYTHONPATH": ROOT, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_a_result_comes_from_another_thread():
    made = Ahead(threading.get_ident)
    assert made.result() != threading.get_ident()
    assert made.result() == made.result()


def test_an_error_is_raised_where_the_result_is_asked_for():
    made = Ahead(int, "seven")
    made.wait()
    for _ in range(2):
        with pytest.raises(ValueError, match="seven"):
            made.result()


def test_without_threads_the_result_is_computed_when_it_is_asked_for(monkeypatch):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert Ahead(pow, 2, 10).result() == 1024


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_waits_for_what_another_thread_computes():
    """A library that it calls would be cut in two: locks of its own would stay taken in the child."""
    done = run("""
        import os, time
        from pytocu.ahead import Ahead

        parent = os.getpid()
        made = Ahead(lambda: (time.sleep(0.3), os.getpid())[1])
        child = os.fork()
        if not child:
            os._exit(0 if made._done and made.result() == parent else 1)
        print(os.waitpid(child, 0)[1], made.result() == parent)
    """)
    assert done.stdout.strip() == "0 True", done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_waits_for_threads_that_wait_for_each_other():
    done = run("""
        import os, time
        from pytocu.ahead import Ahead

        def behind(other):
            while not other._done:
                time.sleep(0.01)
            # The fork has gone on behind the other one.
            time.sleep(0.05)
            other.wait()

        threads = [Ahead(time.sleep, 0.1)]
        for _ in range(12):
            threads.append(Ahead(behind, threads[-1]))
        child = os.fork()
        if not child:
            os._exit(0 if all(each._done for each in threads) else 1)
        print(os.waitpid(child, 0)[1])
    """)
    assert done.stdout.strip() == "0", done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_handler_of_a_signal_forks_before_the_thread_begins():
    done = run("""
        import os, threading
        from pytocu.ahead import Ahead

        start = threading.Thread.start

        def fork_and_start(thread):
            child = os.fork()
            if not child:
                os._exit(0)
            os.waitpid(child, 0)
            start(thread)

        threading.Thread.start = fork_and_start
        print(Ahead(pow, 2, 10).result())
    """)
    assert done.stdout.strip() == "1024", done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_computes_what_a_thread_of_the_parent_did_not_finish():
    done = run("""
        import os, threading
        from pytocu import processes
        from pytocu.ahead import Ahead

        held = threading.Event()
        parent = os.getpid()
        made = Ahead(lambda: os.getpid() if os.getpid() != parent else held.wait())
        # Else the fork would wait for the thread.
        processes._of_helpers.clear()
        child = os.fork()
        if not child:
            os._exit(0 if made.result() == os.getpid() else 1)
        held.set()
        print(os.waitpid(child, 0)[1])
    """)
    assert done.stdout.strip() == "0", done.stderr


@pytest.fixture
def unopened(monkeypatch):
    """Libraries as before the first use."""
    libraries.library.cache_clear()
    monkeypatch.setattr(libraries, "_begun", set())
    monkeypatch.setattr(libraries, "_ahead", {})
    yield
    libraries.library.cache_clear()


@pytest.mark.usefixtures("unopened")
def test_libraries_are_opened_once_and_by_another_thread(monkeypatch):
    made: list[tuple[str, int]] = []

    class Noted(libraries.Library):
        def __init__(self, name: str):
            super().__init__(name)
            made.append((name, threading.get_ident()))

    monkeypatch.setattr(libraries, "Library", Noted)
    for _ in range(2):
        libraries.open_ahead("nvvm")
    libraries.open_ahead("llvm")
    opened = [libraries.library(name) for name in ("nvJitLink", "nvvm", "nvvm")]
    assert opened[0]("Version")[0] >= 12 and opened[1] is opened[2]
    assert sorted(name for name, _ in made) == ["nvJitLink", "nvvm"]
    assert threading.get_ident() not in {thread for _, thread in made}


@pytest.mark.usefixtures("unopened")
def test_a_library_that_cannot_be_opened_is_said_where_it_is_needed(tmp_path, monkeypatch):
    broken = tmp_path / "libnvvm.so"
    broken.write_bytes(b"no library")
    monkeypatch.setattr(libraries, "place_of", lambda name: str(broken))
    libraries.open_ahead("nvvm")
    with pytest.raises(BackendError, match=r"libNVVM cannot be opened .*: pip install"):
        libraries.library("nvvm")
    monkeypatch.undo()
    assert libraries.library("nvvm")("IRVersion")


def test_a_process_that_gives_up_meanwhile_ends_well():
    # The function is refused while the libraries are still being opened.
    for ending in ("", "os._exit(0)", "os.kill(os.getpid(), 15)"):
        done = run(
            f"""
            import os
            from pytocu.backend import libraries

            libraries.open_ahead("nvvm")
            libraries.open_ahead("cuda_c")
            {ending}
            """
        )
        assert done.returncode == (-15 if "kill" in ending else 0), done.stderr
        assert not done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_forked_while_libraries_are_opened_builds():
    done = run(
        """
        import os, sys
        from pytocu.backend import libraries

        libraries.open_ahead("nvvm")
        child = os.fork()
        head = 'target datalayout = "{}"\\ntarget triple = "nvptx64-nvidia-cuda"'
        text = head + "\\n!nvvmir.version = !{{!0}}\\n!0 = !{{i32 2, i32 0}}"
        from pytocu.backend import nvvm
        built = nvvm.build(text.format(nvvm._LAYOUT), "sm_90", "nothing")[:4] == b"\\x7fELF"
        if not child:
            os._exit(0 if built else 1)
        print(built, os.waitpid(child, 0)[1])
        """
    )
    assert done.stdout.split() == ["True", "0"], done.stderr


def test_a_first_call_while_the_process_ends_compiles(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent("""
        import atexit
        import pytocu

        @pytocu.jit
        def double(x):
            return x * 2

        @atexit.register
        def last():
            double.precompile("f32[n]", targets="cuda:sm_90")
            print(double.specializations[0].types)
        """)
    )
    # No thread begins any more.
    done = run(f"import runpy; runpy.run_path({str(program)!r}, run_name='__main__')", PYTOCU_CACHE="0")
    assert done.stdout.strip() == "('x: f32[x_0]',)", done.stderr


def test_what_failed_to_build_is_built_anew(monkeypatch):
    monkeypatch.setenv("PYTOCU_CACHE", "0")
    driver._begun.cache_clear()
    tools = driver._tools("nvvm")

    def fail(source: str, arch: str, name: str) -> Callable[[], bytes]:
        def rest() -> bytes:
            raise BackendError("not now")

        return rest

    with monkeypatch.context() as patch:
        patch.setattr(driver, "_tools", lambda backend: tools._replace(begin=fail))
        building = driver._begun("nvvm", "a source", "sm_90", "f", "()", "")
        with pytest.raises(BackendError, match="not now"):
            building.binary()
        patch.setattr(driver, "_tools", lambda backend: tools._replace(begin=lambda *about: lambda: b"made"))
        assert driver._begun("nvvm", "a source", "sm_90", "f", "()", "").binary() == b"made"
    driver._begun.cache_clear()
