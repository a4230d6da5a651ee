"""Code that was made ahead of time on a real GPU: the disk cache, bundles, `precompile`.

Run with ``pytest -m gpu``.  Arrays are NumPy's and copied, so that no array library brings a compiler along.

Most tests start programs, which ``python -m pytocu.testing.sanitizer`` does not watch; those of
bundles of other libraries and of `precompile` launch in the process of the tests.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import pytocu
from pytocu.cli.main import main
from pytocu.errors import BackendError
from pytocu.runtime import cache, cuda

pytestmark = pytest.mark.gpu

PACKAGE = str(Path(pytocu.__file__).parents[1])

SOURCE = """
import numpy as np, pytocu

GAIN = {gain}

@pytocu.jit(device="cuda", backend={backend!r})
def f(x, y):
    return np.sqrt(x * GAIN + y), x[1:]
"""

CALL = """
import json, sys, time
import numpy as np, pytocu
from pytocu.runtime import device_array
from source import f
x = np.arange(6.0, dtype=np.float32)
device_array.to_device(x, 0)
start = time.perf_counter()
results = f(x, x)
milliseconds = (time.perf_counter() - start) * 1e3
COMPILERS = ("pytocu.driver", "pytocu.backend.libraries", "llvmlite", "cuda.core")
loaded = [name for name in COMPILERS if name in sys.modules]
print(json.dumps([[r.tolist() for r in results], loaded, milliseconds]))
"""

BLOCKED = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.startswith(("llvmlite", "cuda.core", "pytocu.driver", "pytocu.backend")):
            raise ImportError(f"{name} is blocked")

sys.meta_path.insert(0, Blocked())
"""


@pytest.fixture(autouse=True)
def a_cache_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTOCU_CACHE_DIR", str(tmp_path / "cache"))


def run(folder: Path, program: str) -> list[object]:
    file = folder / "program.py"
    file.write_text(textwrap.dedent(program))
    # A source of the same length may be written within the second that compiled files tell apart.
    environment = {**os.environ, "PYTHONPATH": PACKAGE, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def expected(gain: float) -> list[list[float]]:
    x = np.arange(6.0, dtype=np.float32)
    return [np.sqrt(x * np.float32(gain) + x).tolist(), x[1:].tolist()]


@pytest.mark.parametrize("backend", ["cuda_c", "nvvm"])
def test_a_warm_process_loads_no_compiler(tmp_path: Path, backend: str) -> None:
    (tmp_path / "source.py").write_text(SOURCE.format(gain=2.0, backend=backend))
    first = run(tmp_path, CALL)
    assert first[0] == expected(2.0) and "pytocu.driver" in first[1]
    for _ in range(2):
        again = run(tmp_path, CALL)
        print(f"{backend}: first call {first[2]:.1f} ms, in a warm process {again[2]:.1f} ms")
        assert again[:2] == [first[0], []]
    assert run(tmp_path, BLOCKED + CALL)[0] == first[0]
    (tmp_path / "source.py").write_text(SOURCE.format(gain=3.0, backend=backend))
    changed = run(tmp_path, CALL)
    assert changed[0] == expected(3.0) and "pytocu.driver" in changed[1]
    assert sorted(e.meta["target"] for e in cache.entries()) == [f"cuda:{cuda.arch(0)}"] * 3


def test_a_bundle_runs_without_compilers_and_source(tmp_path: Path) -> None:
    source = tmp_path / "source.py"
    source.write_text(SOURCE.format(gain=2.0, backend=None))
    words = ["--args", "f32[n], f32[n]", "--target", "cuda:sm_80", "--target", f"cuda:{cuda.arch(0)}"]
    assert main(["build", f"{source}:f", *words, "-o", str(tmp_path / "bundle")]) == 0
    source.unlink()
    program = BLOCKED + CALL.replace("from source import f", f"f = pytocu.load({str(tmp_path / 'bundle')!r}).f")
    assert run(tmp_path, program)[:2] == [expected(2.0), []]


def test_a_bundle_for_another_gpu_says_so(tmp_path: Path) -> None:
    source = tmp_path / "source.py"
    source.write_text(SOURCE.format(gain=2.0, backend=None))
    other = "sm_75" if cuda.arch(0) != "sm_75" else "sm_80"
    words = ["--args", "f32[n], f32[n]", "--target", f"cuda:{other}"]
    assert main(["build", f"{source}:f", *words, "-o", str(tmp_path / "b")]) == 0
    x = np.ones(3, np.float32)
    with pytest.raises(BackendError, match=f"for {other}, and this GPU is {cuda.arch(0)}"):
        pytocu.load(tmp_path / "b").f(x, x)


def test_precompile_for_the_device_at_hand() -> None:
    f = pytocu.jit(lambda x, y: x * 2 + y, device="cuda")
    f.precompile("f64[n]", "f64[n]")
    assert [s.target for s in f.specializations] == ["cuda"]
    x = np.arange(5.0)
    np.testing.assert_array_equal(f(x, x), x * 3)
    assert len(f.specializations) == 1
    assert {e.meta["target"] for e in cache.entries()} == {f"cuda:{cuda.arch(0)}"}


@pytest.mark.parametrize("library", ["cupy", "torch"])
def test_bundles_take_arrays_of_other_libraries(tmp_path: Path, library: str) -> None:
    module = pytest.importorskip(library)
    source = tmp_path / "source.py"
    source.write_text("import numpy as np\n\ndef f(x, y):\n    return np.hypot(x, y)\n")
    words = ["--args", "f32[n, m], f32[m]", "--target", f"cuda:{cuda.arch(0)}", "--target", "cpu"]
    assert main(["build", f"{source}:f", *words, "-o", str(tmp_path / "bundle")]) == 0
    f = pytocu.load(tmp_path / "bundle").f
    x, y = np.full((3, 4), 3.0, np.float32), np.full(4, 4.0, np.float32)
    np.testing.assert_array_equal(f(x, y), np.full((3, 4), 5.0))
    made = [module.asarray(a) if library == "cupy" else module.tensor(a, device="cuda") for a in (x, y)]
    for _ in range(2):
        result = f(*made)
        assert type(result) is type(made[0])
        back = result.get() if library == "cupy" else result.cpu().numpy()
        np.testing.assert_allclose(back, np.full((3, 4), 5.0), rtol=1e-6)
