"""The object code of the native function that begins calls, from the cache or built.

Every jitted function of every process uses the same code, so it is built once on a machine.
"""

from __future__ import annotations

import platform

from pytocu import config
from pytocu.backend import call_code
from pytocu.call_operations import NAME
from pytocu.runtime import cache, toolchain


def code() -> bytes:
    """The object code; errors as :func:`pytocu.backend.cpu.build`."""
    text, machine = call_code.text(), platform.machine()
    key = cache.key(("calls", config.VERSION, machine, toolchain.installed("llvm"), text)) if config.enabled("cache") else ""
    found = cache.load(key) if key else None
    if found is not None:
        return found.binary
    from pytocu.backend import cpu

    # The same instructions on every processor of this kind.
    made = cpu.build(text, ("x86-64" if machine in ("x86_64", "AMD64") else "generic", ""), frozenset(call_code.API))
    if key:
        shown = {"function": NAME, "signature": "", "target": "cpu", "backend": "llvm"}
        cache.store(key, cache.Entry("code", shown, "", made))
    return made
