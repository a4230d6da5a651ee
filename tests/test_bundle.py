"""Ahead of time: bundles that run without compilers or source, and `precompile`."""

from __future__ import annotations

import json
import os
import pickle
import platform
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import pytocu
from pytocu import compiles
from pytocu.cli.main import main
from pytocu.errors import BackendError, DTypeError, ShapeError, UnsupportedError
from pytocu.jitted import JitFunction
from pytocu.runtime import bundle, cache, dispatch, host_cpu, native_calls

PACKAGE = str(Path(pytocu.__file__).parents[1])

SOURCE = """
import numpy as np, pytocu

GAIN = 3.0

@pytocu.jit(static="mode")
def scaled(x, y, mode="add", *, times=2):
    z = x * GAIN + y if mode == "add" else x * GAIN - y
    return np.sqrt(abs(z)) * times

def diff(x):
    return x[1:] - x[:-1], x.shape[0]

@pytocu.jit
def nothing(x):
    return x
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTOCU_CACHE_DIR", str(tmp_path / "cache"))


def build(folder: Path, function: str, *words: str, source: str = SOURCE) -> Path:
    """Writes the source, builds, and takes the source away."""
    file = folder / "source.py"
    file.write_text(source)
    assert main(["build", f"{file}:{function}", *words, "-o", str(folder / "bundle")]) == 0
    file.unlink()
    return folder / "bundle"


def expected(x, y, mode="add", times=2):
    z = x * 3.0 + y if mode == "add" else x * 3.0 - y
    return np.sqrt(abs(z)) * times


def test_a_bundle_runs_without_compilers_and_source(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--args", "f64[n], f64[n]", "--args", "f32[n], f32[1]", "--target", "cpu", "--target", "cuda:sm_80")
    place = build(tmp_path, "scaled", *words, "--target", "cuda:sm_90")
    said = capsys.readouterr().out.splitlines()
    assert len(said) == 2 * 3 * 2 + 1
    assert said[0].startswith("cpu          scaled(x: f64[x_0], y: f64[y_0], mode: static 'add', times: ")
    assert said[-1].startswith("12 binaries, ")
    place = place.rename(tmp_path / "moved")
    program = f"""
    import sys

    class Blocked:
        def find_spec(self, name, path=None, target=None):
            if name.split(".")[0] in ("llvmlite", "cuda", "nvidia") or name.startswith(("pytocu.frontend", "pytocu.driver")):
                raise ImportError(f"{{name}} is blocked")

    sys.meta_path.insert(0, Blocked())
    import json, numpy as np, pytocu
    scaled = pytocu.load({str(place)!r}).scaled
    x = np.arange(5.0)
    for _ in range(150):
        results = scaled(x, x), scaled(x, y=x, mode="add"), scaled(np.float32(x), np.ones(1, "f"))
    assert len(scaled._calls.records) == 2, "native code makes the calls"
    print(json.dumps([r.tolist() for r in results]))
    """
    environment = {**os.environ, "PYTHONPATH": PACKAGE, "PYTOCU_CACHE_DIR": str(tmp_path / "unused")}
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    x = np.arange(5.0)
    first = expected(x, x).tolist()
    assert json.loads(done.stdout) == [first, first, expected(np.float32(x), np.ones(1, "f")).tolist()]
    assert not (tmp_path / "unused").exists()


def test_code_of_calls_that_is_damaged_or_for_another_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place, x = build(tmp_path, "diff", "--args", "f64[n]"), np.arange(4.0)
    monkeypatch.setattr(dispatch, "CALLS_BEFORE", 1)
    monkeypatch.setattr(native_calls, "_code", native_calls.code())
    machine = platform.machine()
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    other = pytocu.load(place).diff
    for _ in range(4):
        assert other(x)[1] == 4
    assert other._calls is None
    monkeypatch.setattr(platform, "machine", lambda: machine)
    damaged = pytocu.load(place).diff
    file = place / json.loads((place / "bundle.json").read_text().partition("\n")[2])["calls"][machine][0]
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    with pytest.warns(RuntimeWarning, match="longer than they need to: .* is damaged"):
        for _ in range(4):
            assert damaged(x)[1] == 4
    assert damaged._calls is None


def test_what_a_bundle_lacks_is_named(tmp_path: Path) -> None:
    place = build(tmp_path, "scaled", "--args", "f64[n], f64[n]", "--static", "mode='sub'")
    scaled = pytocu.load(place)["scaled"]
    x = np.arange(3.0)
    np.testing.assert_array_equal(scaled(x, x, "sub"), expected(x, x, "sub"))
    for arguments in ((x, x), (np.float32(x), x, "sub"), (x[::2], x, "sub")):
        with pytest.raises(UnsupportedError, match=r"no code for scaled\(x: f(64|32)\[x_0") as caught:
            scaled(*arguments)
        assert "cpu (x: f64[x_0], y: f64[y_0], mode: static 'sub'" in str(caught.value)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'y'"):
        scaled(x)  # pyright: ignore
    assert repr(scaled) == "<bundled scaled(x, y, mode='add', *, times=2)>"
    with pytest.raises(AttributeError, match="no function 'scale'; it has scaled"):
        _ = pytocu.load(place).scale


def test_facts_about_lengths(tmp_path: Path) -> None:
    place = build(tmp_path, "diff", "--args", "f64[n]")
    diff = pytocu.load(place).diff
    result, length = diff(np.arange(4.0) ** 2)
    np.testing.assert_array_equal(result, [1.0, 3.0, 5.0])
    assert length == 4
    wanted = np.diff(np.arange(2.0))
    try:
        np.testing.assert_array_equal(diff(np.arange(2.0))[0], wanted)
    except UnsupportedError as error:
        assert "x has the shape (2,)" in str(error) and "x_0 - 1 is not 1" in str(error)
        place = build(tmp_path, "diff", "--args", "f64[n]", "--args", "f64[2]")
        np.testing.assert_array_equal(pytocu.load(place).diff(np.arange(2.0))[0], wanted)


def test_checks_and_their_places(tmp_path: Path) -> None:
    scaled = pytocu.load(build(tmp_path, "scaled", "--args", "f64[n], f64[n]")).scaled
    with pytest.raises(ShapeError, match=r"could not be broadcast together with shapes \(3,\) \(4,\)") as caught:
        scaled(np.ones(3), np.ones(4))
    assert "--> <source.py>:8:9, in scaled" in str(caught.value)
    assert str(tmp_path) not in (tmp_path / "bundle" / "bundle.json").read_text()


def test_functions_are_added(tmp_path: Path) -> None:
    build(tmp_path, "scaled", "--args", "f64[n], f64[n]")
    build(tmp_path, "diff", "--args", "f64[n]")
    before = set(os.listdir(tmp_path / "bundle"))
    place = build(tmp_path, "nothing", "--args", "f64[n]", "--target", "cpu", "--target", "cuda:sm_90")
    assert set(os.listdir(place)) == before
    found = pytocu.load(place)
    assert list(found) == ["diff", "nothing", "scaled"] and len(found) == 3 and "diff" in dir(found)
    x = np.arange(3.0)
    assert found.nothing(x) is x
    build(tmp_path, "scaled", "--args", "f32[n], f32[n]")
    assert pytocu.load(place).scaled.specializations[0].types[0] == "x: f32[x_0]"
    assert len(list(place.glob("*.bin"))) == len(before) - 1


def test_functions_pickle_by_the_place_of_their_bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = build(tmp_path, "scaled", "--args", "f64[n], f64[n]")
    monkeypatch.chdir(tmp_path)
    found, x = pytocu.load("bundle"), np.arange(5.0)
    data = pickle.dumps(found.scaled)
    assert len(data) < 500
    program = "import pickle, sys\nf, g, x = pickle.load(sys.stdin.buffer)\nassert f is g\nprint(f(x, x).tolist())"
    words = [sys.executable, "-c", program]
    given = pickle.dumps((found.scaled, pytocu.load(place).scaled, x))
    done = subprocess.run(words, input=given, capture_output=True, env={**os.environ, "PYTHONPATH": PACKAGE}, cwd="/")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == expected(x, x).tolist()
    assert pickle.loads(data) is pickle.loads(data)
    assert list(pickle.loads(pickle.dumps(found))) == ["scaled"]
    build(tmp_path, "scaled", "--args", "f32[n], f32[n]")
    assert pickle.loads(data).specializations[0].types[0] == "x: f32[x_0]"
    shutil.rmtree(place)
    with pytest.raises(BackendError, match="this is no bundle"):
        pickle.loads(data)


@pytest.mark.parametrize("part", ["bundle.json", "*.bin"])
def test_every_byte_of_a_bundle_counts(tmp_path: Path, part: str) -> None:
    place = build(tmp_path, "diff", "--args", "f64[n]")
    x = np.arange(4.0)
    for file in place.glob(part):
        data = file.read_bytes()
        for position in range(0, len(data), 7):
            file.write_bytes(data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :])
            if part == "bundle.json":
                with pytest.raises(BackendError, match="damaged"):
                    pytocu.load(place)
            else:
                index = json.loads((place / "bundle.json").read_text().partition("\n")[2])
                entries = index["functions"]["diff"]["specializations"]
                listed = [*(e["binaries"] for e in entries), index["calls"]]
                files = next(f for f in listed if any(name == file.name for name, _ in f.values()))
                with pytest.raises(BackendError, match="damaged"):
                    bundle._Binaries("diff", str(place), files, host_cpu.host())(*files)
        file.write_bytes(data)
    assert pytocu.load(place).diff(x)[1] == 4


def test_other_machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = build(tmp_path, "diff", "--args", "f64[n]", "--target", "cpu", "--target", "cuda:sm_80", "--target", "cuda:sm_90")
    here = host_cpu.host()
    monkeypatch.setattr(host_cpu, "host", lambda: here.replace(" sse2", ""))
    with pytest.raises(BackendError, match="for a CPU with sse2, which this one lacks"):
        pytocu.load(place).diff(np.arange(4.0))
    monkeypatch.setattr(host_cpu, "host", lambda: here.replace(here.split()[0], "aarch64", 1))
    with pytest.raises(BackendError, match=f"the architecture {here.split()[0]}"):
        pytocu.load(place).diff(np.arange(4.0))
    monkeypatch.setattr(host_cpu, "host", lambda: here + " zzz_new")
    assert pytocu.load(place).diff(np.arange(4.0))[1] == 4
    (entry,) = [e for (target, _), e in pytocu.load(place).diff._table.items() if target[0] == "cuda" and e[0].executable][:1]
    binary = entry[0].executable.binary
    assert binary("sm_86") == binary("sm_80") != binary("sm_90") and binary("sm_80")[:4] == b"\x7fELF"
    for arch in ("sm_75", "sm_100", "sm_120"):
        with pytest.raises(BackendError, match=f"for sm_80, sm_90, and this GPU is {arch}"):
            binary(arch)


def test_no_bundle_and_another_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BackendError, match="this is no bundle"):
        pytocu.load(tmp_path / "nowhere")
    place = build(tmp_path, "diff", "--args", "f64[n]")
    monkeypatch.setattr(pytocu.config, "VERSION", "99")
    with pytest.raises(BackendError, match="this is 99"):
        pytocu.load(place)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("diff", "--args", "f64[n]", "--target", "cuda"), "names no architecture"),
        (("diff", "--args", "f64[n]", "--target", "gpu"), "'gpu' is not a target"),
        (("diff", "--args", ""), "needs a type for x"),
        (("dif", "--args", "f64[n]"), "did you mean diff?"),
        (("diff",), "--args"),
    ],
)
def test_command_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str) -> None:
    (tmp_path / "source.py").write_text(SOURCE)
    name, *rest = words
    assert main(["build", f"{tmp_path}/source.py:{name}", *rest, "-o", str(tmp_path / "bundle")]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "bundle").exists()


def test_values_a_bundle_cannot_hold(tmp_path: Path) -> None:
    class Model:
        factor = 2

        @pytocu.jit
        def apply(self, x):
            return x * self.factor

    with pytest.raises(UnsupportedError, match=r"the value of self is .*Model.*, which a bundle cannot hold"):
        list(compiles.build(Model.apply, [((Model(), "f64[n]"), {})], ["cpu"], str(tmp_path / "bundle")))


# precompile


def test_precompile_fills_the_dispatcher_and_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    @pytocu.jit
    def f(x, y, order=2):
        return x**order + y[1:]

    f.precompile("f64[n]", "f64[n]", targets="cpu")
    assert [s.types for s in f.specializations] == [("x: f64[x_0]", "y: f64[y_0]", "order: static 2")]
    assert sorted(e.kind for e in cache.entries()) == ["code", "manifest"]

    def fail(*_: object) -> None:
        raise AssertionError("this compiles")

    with monkeypatch.context() as patch:
        patch.setattr(JitFunction, "_compile", fail)
        x = np.arange(4.0)
        np.testing.assert_array_equal(f(x[:3], x), x[:3] ** 2 + x[1:])
        with pytest.raises(AssertionError, match="this compiles"):
            f(np.arange(4), x)
        # The disk is warm too: another function object of the same code finds it.
        again = pytocu.jit(f.__wrapped__)
        patch.setattr(compiles, "compiler", fail)
        again.precompile("f64[n]", "f64[n]", targets="cpu")
        np.testing.assert_array_equal(again(x[:3], x), x[:3] ** 2 + x[1:])


def test_precompile_for_lengths_that_are_one() -> None:
    f = pytocu.jit(lambda x, y: x[1:] + y)
    f.precompile("f64[2]", "f64[n]", targets="cpu")
    before = len(f.specializations)
    np.testing.assert_array_equal(f(np.arange(2.0), np.ones(3)), [2.0, 2.0, 2.0])
    assert len(f.specializations) == before
    f(np.arange(4.0), np.ones(3))
    assert len(f.specializations) == before + 1


def test_precompile_for_gpus_that_are_not_here(monkeypatch: pytest.MonkeyPatch) -> None:
    f = pytocu.jit(lambda x: x + 1)
    f.precompile("f32[n]", targets=["cuda:sm_80", "cuda:sm_90"])
    targets = sorted(e.meta["target"] for e in cache.entries() if e.kind == "manifest")
    assert targets == ["cuda:sm_80", "cuda:sm_90"]
    # A process on such a machine finds both, and builds what was not asked for.
    again = pytocu.jit(f.__wrapped__)
    with monkeypatch.context() as patch:
        patch.setattr(compiles, "compiler", None)
        again.precompile("f32[n]", targets=["cuda:sm_80", "cuda:sm_90"])
    executables = [e.executable for entries in again._table.values() for e in entries]
    ninety, eighty = (e.binary(arch) for e, arch in zip(executables, ("sm_90", "sm_80"), strict=True))
    assert ninety != eighty and ninety[:4] == b"\x7fELF"
    assert executables[0].binary("sm_80") == eighty


def test_precompile_of_a_method(monkeypatch: pytest.MonkeyPatch) -> None:
    class Model:
        def __init__(self, factor):
            self.factor = factor

        @pytocu.jit
        def apply(self, x):
            return x * self.factor

    model = Model(3.0)
    model.apply.precompile("f64[n]", targets="cpu")
    assert len(model.apply.specializations) == 1
    np.testing.assert_array_equal(model.apply(np.arange(3.0)), [0.0, 3.0, 6.0])
    assert len(model.apply.specializations) == 1
    np.testing.assert_array_equal(Model(2.0).apply(np.arange(3.0)), [0.0, 2.0, 4.0])
    assert len(model.apply.specializations) == 2


def test_precompile_says_what_is_wrong() -> None:
    f = pytocu.jit(lambda x: x.nothing)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        f.precompile("f32[n]", targets="cpu")
    with pytest.raises(DTypeError, match="f33"):
        f.precompile("f33[n]", targets="cpu")
    with pytest.raises(BackendError, match="'tpu' is not a target"):
        f.precompile("f32[n]", targets="tpu")
