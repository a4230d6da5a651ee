"""What a running program compiles, while it runs: ``PYTOCU_DUMP=DIR`` and ``PYTOCU_LOG=compile``."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence

from pytocu import config
from pytocu.driver import Compiled, Lowered
from pytocu.errors import PytocuError, closest
from pytocu.explain.stages import code_text, stage_text, stages, subject_of
from pytocu.passes.pipeline import pass_names
from pytocu.runtime.changes import Change
from pytocu.runtime.plan_json import plan_to_json

LOGS = ("compile",)
"""What ``PYTOCU_LOG`` may name."""

_SOURCES = {"cuda_c": "cu", "nvvm": "ll", "llvm": "ll"}


def logs(what: str) -> bool:
    """Whether something is to be said.

    Raises
    ------
    PytocuError
        ``PYTOCU_LOG`` names something else.
    """
    words = [w.strip() for w in config.get("log").split(",") if w.strip()]
    for word in words:
        if word not in LOGS:
            close = closest(word, LOGS)
            hint = f"did you mean {close}?" if close else f"choose from {', '.join(LOGS)}"
            raise PytocuError(f"PYTOCU_LOG={word}: {hint}")
    return what in words


def say(name: str, types: Sequence[str], target: str, how: str, seconds: float, changes: Sequence[Change], first: bool) -> None:
    """Write one line to the error stream about code that was made or found.

    Parameters
    ----------
    how : str
        ``compiled``, or ``read from the cache``.
    changes : sequence of Change
        What tells it from the specialisation most like it.
    first : bool
        Whether there is no other.
    """
    time = f"{seconds * 1e3:.1f} ms"
    print(f"pytocu: {name}({', '.join(types)}) for {target} {how} in {time}: {reason(changes, first)}", file=sys.stderr)


def reason(changes: Sequence[Change], first: bool) -> str:
    """Why code was made.

    Examples
    --------
    >>> reason([], True)
    'the first call'
    >>> reason([Change("dtype of argument x", "f32", "f64")], False)
    'dtype of argument x is f64, was f32'
    """
    if first:
        return "the first call"
    if not changes:
        return "lengths are in another class"
    return "; ".join(f"{c.fact} is {c.now}, was {c.before}" for c in changes)


def write(folder: str, name: str, types: Sequence[str], lowered: Lowered, compiled: Compiled, about: dict[str, str]) -> str:
    """Write every stage of something that was compiled into a new folder.

    Parameters
    ----------
    folder : str
        Gets a folder for each compile: the function's name and a number.

    Returns
    -------
    str
        The new folder.

    Raises
    ------
    PytocuError
        It cannot be written.
    """
    try:
        made = _new_folder(folder, lowered.function.name)
        _write_stages(made, lowered, compiled)
        place = lowered.function.body.terminator.loc
        known = {"function": name, "file": place.file, "types": list(types), "target": str(compiled.target)}
        _put(made, "about.json", json.dumps(known | {"backend": compiled.backend, **about}, indent=1))
        _write_code(made, compiled)
    except OSError as error:
        raise PytocuError(f"PYTOCU_DUMP={folder}: {error.strerror or error}") from None
    return made


def _new_folder(folder: str, name: str) -> str:
    os.makedirs(folder, exist_ok=True)
    number = 0
    while True:
        made = os.path.join(folder, f"{name}-{number}")
        try:
            os.mkdir(made)
        except FileExistsError:
            # Of this process or another one.
            number += 1
        else:
            return made


def _write_stages(folder: str, lowered: Lowered, compiled: Compiled) -> None:
    order = {name: number for number, name in enumerate(("lower", *pass_names()))}
    index_bits = compiled.host.fact("index_bits", 32)
    before = ""
    for stage in stages(subject_of(lowered), compiled.target, index_bits):
        text = stage_text(stage.function, locs=True)
        if text != before:
            _put(folder, f"{order[stage.name]:02}-{stage.name}.ir", text)
        before = text


def _write_code(folder: str, compiled: Compiled) -> None:
    _put(folder, "plan.txt", code_text(compiled, "plan"))
    _put(folder, "plan.json", plan_to_json(compiled.plan))
    if not compiled.plan.kernels:
        return
    _put(folder, f"kernels.{_SOURCES[compiled.backend]}", compiled.source)
    on_cpu = compiled.target.kind == "cpu"
    _put(folder, "kernels.s" if on_cpu else "kernels.ptx", compiled.assembly)
    if not on_cpu:
        _put(folder, "resources.txt", code_text(compiled, "resources"))
    with open(os.path.join(folder, "kernels.o" if on_cpu else "kernels.cubin"), "wb") as file:
        file.write(compiled.binary)


def _put(folder: str, name: str, text: str) -> None:
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text.rstrip("\n") + "\n")
