"""The object code of native functions of the host that are the same for every plan, from the cache or built.

Every jitted function of every process uses the same code, so it is built once on a machine.
"""

from __future__ import annotations

import platform

from pytocu import config
from pytocu.call_operations import NAME
from pytocu.runtime import cache, toolchain


def calls() -> bytes:
    """The function that begins calls (`pytocu.backend.call_code`); errors as :func:`pytocu.backend.cpu.build`."""
    from pytocu.backend import call_code

    return _code("calls", NAME, call_code.text(), frozenset(call_code.API))


def steps() -> bytes:
    """The function that makes the steps of loops on a GPU (`pytocu.backend.gpu_steps`); errors likewise."""
    from pytocu.backend import gpu_steps

    return _code("steps", "pytocu_steps", gpu_steps.TEXT, frozenset())


def _code(kind: str, name: str, text: str, allowed: frozenset[str]) -> bytes:
    machine = platform.machine()
    key = cache.key((kind, config.VERSION, machine, toolchain.installed("llvm"), text)) if config.enabled("cache") else ""
    found = cache.load(key) if key else None
    if found is not None:
        return found.binary
    from pytocu.backend import cpu

    # The same instructions on every processor of this kind.
    made = cpu.build(text, ("x86-64" if machine in ("x86_64", "AMD64") else "generic", ""), allowed)
    if key:
        shown = {"function": name, "signature": "", "target": "cpu", "backend": "llvm"}
        cache.store(key, cache.Entry("code", shown, "", made))
    return made
