"""This machine's CPU, as code for it depends on it."""

from __future__ import annotations

import os
from functools import lru_cache


@lru_cache(maxsize=1)
def host() -> str:
    """What code for this CPU depends on: its model and the instructions it has; empty where that is not known.

    Read without LLVM, whose own name and features follow from it.
    """
    try:
        # The first CPU is enough, and each takes the kernel time.
        with open("/proc/cpuinfo", "rb", buffering=0) as file:
            text = file.read(1 << 13).decode(errors="replace")
    except OSError:
        return ""
    facts: dict[str, str] = {}
    for line in text.partition("\n\n")[0].splitlines():
        name, _, value = line.partition(":")
        facts[name.strip()] = value.strip()
    features = facts.get("flags") or facts.get("Features")
    if features is None:
        return ""
    # Other flags are about the kernel, and machines of one kind differ in them.
    kept = sorted(f for f in features.split() if f.startswith(_INSTRUCTIONS) or "Features" in facts)
    model = [facts.get(name, "") for name in ("vendor_id", "cpu family", "model", "CPU implementer", "CPU part")]
    return f"{' '.join([os.uname().machine, *model])}: {' '.join(kept)}"


def missing(built_for: str) -> list[str]:
    """What code for the CPU of another machine, as its :func:`host` says, needs and this CPU lacks."""
    here, there = host().partition(":"), built_for.partition(":")
    if here[0].split()[:1] != there[0].split()[:1]:
        return [f"the architecture {there[0].partition(' ')[0]}"]
    return sorted(set(there[2].split()) - set(here[2].split()))


_INSTRUCTIONS = (
    "abm", "adx", "aes", "amx", "apx", "avx", "bmi", "cldemote", "clflush", "clwb", "clzero", "cmov", "cx", "f16c", "fma",
    "fsgsbase", "fxsr", "gfni", "lahf", "lzcnt", "mmx", "mov", "pclmul", "pku", "pni", "popcnt", "prefetch", "rd", "serialize",
    "sha", "sm", "sse", "ssse", "tbm", "vaes", "vpclmul", "xop", "xsave", "3dnow",
)  # fmt: skip
