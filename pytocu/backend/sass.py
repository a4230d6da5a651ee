"""The machine code of a cubin as text, with NVIDIA's own disassembler, which no package for the compilers has."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile

from pytocu.errors import BackendError

TOOL = "nvdisasm"


def disassemble(cubin: bytes) -> str:
    """The instructions of a cubin.

    Parameters
    ----------
    cubin : bytes
        As a backend builds it.

    Raises
    ------
    BackendError
        There is no nvdisasm on the path, or it refuses the file.
    """
    tool = shutil.which(TOOL)
    if tool is None:
        raise BackendError(
            f"the machine code of a GPU is shown by NVIDIA's {TOOL}, which is not on the path: it comes with the CUDA toolkit; "
            "PTX is shown without it (--emit ptx, or Compiled.assembly)"
        )
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "kernels.cubin")
        with open(file, "wb") as opened:
            opened.write(cubin)
        done = subprocess.run([tool, file], capture_output=True, text=True)
    if done.returncode:
        raise BackendError(f"{TOOL} refused the code: {done.stderr.strip()}")
    return done.stdout
