"""pytocu info: what pytocu found on this machine, and the command that installs what is missing."""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import pytocu
from pytocu import config
from pytocu.backend import cpu, nvrtc
from pytocu.backend.libraries import library
from pytocu.cli.terminal import show, table
from pytocu.errors import BackendError
from pytocu.llvm_access import llvm_binding
from pytocu.runtime import cache, cuda, threads

EPILOG = ""

ARRAY_LIBRARIES = {"cupy": "CuPy", "torch": "PyTorch", "numba_cuda": "Numba-CUDA", "jax": "JAX"}
"""Libraries whose arrays are taken as they are, by the module that is imported."""


@dataclass(frozen=True, slots=True)
class Found:
    """A part of the machine.

    Attributes
    ----------
    text : str
        Its version, or why it cannot be used.
    install : str
        The command that installs it; empty where it is there or no command helps.
    """

    text: str
    install: str = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """There are no options."""


def run(options: argparse.Namespace) -> None:
    """Print everything that was found."""
    gpu = _gpu_section()
    sections = (
        ("pytocu", _base_section()),
        ("CPU", _cpu_section()),
        ("GPU", gpu),
        ("Array libraries", _library_section()),
        ("Terminal and demo", [("rich", _package("rich", "demo")), ("matplotlib", _package("matplotlib", "demo"))]),
        ("Environment variables", _variable_section()),
    )
    missing: dict[str, list[str]] = {}
    for title, rows in sections:
        show(title, "header")
        show(table((name, found.text) for name, found in rows))
        show("")
        for name, found in rows:
            if found.install:
                missing.setdefault(found.install, []).append(name)
    show("Missing" if missing else "Nothing is missing.", "header")
    if missing:
        show(table((", ".join(names), command) for command, names in missing.items()))


Rows = list[tuple[str, Found]]


def _base_section() -> Rows:
    return [
        ("version", Found(f"{pytocu.__version__} in {os.path.dirname(pytocu.__file__)}")),
        ("Python", Found(f"{platform.python_version()} ({platform.python_implementation()}) {sys.executable}")),
        ("platform", Found(platform.platform())),
        ("NumPy", Found(np.__version__)),
        ("llvmlite", _compiler(_llvmlite_version, "pip install llvmlite")),
        ("compiled code", Found(f"kept in {cache.path()}" if config.enabled("cache") else "not kept on disk: PYTOCU_CACHE=0")),
    ]


def _cpu_section() -> Rows:
    rows: Rows = [("threads", Found(f"{threads.thread_count()} used of {os.cpu_count()}"))]
    try:
        name, features = cpu.host_cpu()
    except BackendError:
        # The row of llvmlite says why; a machine that only runs bundles has none.
        return rows
    on = [f[1:] for f in features.split(",") if f.startswith("+")]
    lines = textwrap.wrap(" ".join(on), 90)
    return [("name", Found(name)), *rows, *(("features" if n == 0 else "", Found(line)) for n, line in enumerate(lines))]


def _gpu_section() -> Rows:
    rows: Rows = []
    ok, reason = cuda.available()
    bindings = _version("cuda-bindings")
    extra = "cu12" if bindings and bindings.startswith("12.") else "cu13"
    if ok:
        rows.append(("driver", Found("CUDA {}.{}".format(*cuda.driver_version()))))
        for number in range(cuda.device_count()):
            text = f"{cuda.device_name(number)}, {cuda.arch(number)}, {cuda.multiprocessors(number)} multiprocessors"
            rows.append((f"GPU {number}", Found(text)))
    else:
        rows.append(("GPU", Found(f"none: {reason}")))
    install = f"pip install 'pytocu[{extra}]'"
    rows.append(("cuda-bindings", Found(bindings) if bindings else Found("not installed", install)))
    rows.append(("NVRTC", _compiler(_nvrtc_version, install)))
    rows.append(("libNVVM", _compiler(_nvvm_version, install)))
    rows.append(("nvJitLink", _compiler(_nvjitlink_version, install)))
    return rows


def _llvmlite_version() -> str:
    llvm = llvm_binding()
    import llvmlite

    return f"{llvmlite.__version__}, LLVM {'.'.join(map(str, llvm.llvm_version_info))}"


def _nvrtc_version() -> str:
    archs = nvrtc.supported_archs()
    return "{}.{}, compiles for {} to {}".format(*nvrtc.version(), archs[0], archs[-1])


def _nvvm_version() -> str:
    nvvm = library("nvvm")
    major, minor, *_ = nvvm("IRVersion")
    return f"{'.'.join(map(str, nvvm('Version')))}, NVVM IR {major}.{minor}"


def _nvjitlink_version() -> str:
    return ".".join(map(str, library("nvJitLink")("Version")))


def _compiler(version: Callable[[], str], install: str) -> Found:
    try:
        return Found(version())
    except BackendError as error:
        return Found(str(error).partition(": pip install")[0], install)


def _library_section() -> Rows:
    rows: Rows = [("NumPy", Found(np.__version__))]
    distributions = importlib.metadata.packages_distributions()
    for module, name in ARRAY_LIBRARIES.items():
        owners = distributions.get(module, [])
        rows.append((name, Found(f"{_version(owners[0])} ({owners[0]})" if owners else "not installed (optional)")))
    return rows


def _variable_section() -> Rows:
    rows: Rows = []
    for option in config.OPTIONS.values():
        value = os.environ.get(option.variable, "")
        state = f"= {value}" if value else f"not set (means {option.default})" if option.default else "not set"
        rows.append((option.variable, Found(f"{state}. {option.doc}")))
    return rows


def _package(name: str, extra: str) -> Found:
    version = _version(name)
    return Found(version) if version else Found("not installed", f"pip install 'pytocu[{extra}]'")


def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return ""
