"""The sign of a zero that a comparison with zero selects, which the instructions of minima and maxima do not keep."""

from __future__ import annotations

import platform
import re

import llvmlite.binding as llvm
import numpy as np
import pytest
from zero_tools import FUNCTIONS, VALUES

import pytocu
from pytocu.testing.compare import compare

EXTREME = re.compile(r"(min|max)\.f\d+\s.*, 0[fd][08]0+;")


@pytest.mark.parametrize("arch", ["sm_75", "sm_90", "sm_100"])
@pytest.mark.parametrize("backend", ["cuda_c", "nvvm"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_extreme_of_a_zero(name: str, backend: str, arch: str) -> None:
    for dtype in ("f32", "f64"):
        text = pytocu.jit(FUNCTIONS[name]).lower(f"{dtype}[n]").compile(f"cuda:{arch}", backend).assembly
        assert not EXTREME.findall(text)


@pytest.mark.parametrize("arch", ["sm_75", "sm_90", "sm_100"])
@pytest.mark.parametrize("backend", ["cuda_c", "nvvm"])
@pytest.mark.parametrize("name", ["step of a quotient", "sign of a quotient", "infinite quotient"])
def test_quotients_of_numbers_that_are_not_negative_are_compared(name: str, backend: str, arch: str) -> None:
    text = pytocu.jit(FUNCTIONS[name]).lower("f32[n]").compile(f"cuda:{arch}", backend).assembly
    assert re.search(r"setp\.(lt|gt|eq|neu|leu|geu|nltu?|ngtu?)\.f32", text)


def test_processors_whose_minimum_takes_the_negative_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple("aarch64-linux-gnu").create_target_machine(opt=3)

    def assembly() -> str:
        text = pytocu.jit(FUNCTIONS["less"]).lower("f32[n]").compile("cpu").source
        module = llvm.parse_assembly("\n".join(line for line in text.splitlines() if "x86" not in line))
        builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
        builder.getModulePassManager().run(module, builder)
        return machine.emit_assembly(module)

    assert "fminnm" in assembly()
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    text = assembly()
    assert "fcmgt" in text or "fcmlt" in text
    assert "fminnm" not in text


def test_constants_that_are_no_zeros_are_extremes() -> None:
    text = pytocu.jit(lambda x: np.where(x < 2, x, 2)).lower("f32[n]").compile("cuda:sm_90", "nvvm").assembly
    assert "min.f32" in text and "mov.f32" not in text


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_signs(name: str, dtype: type) -> None:
    x = np.array(VALUES, dtype)
    with np.errstate(all="ignore"):
        compare(pytocu.jit(FUNCTIONS[name])(x), FUNCTIONS[name](x))
