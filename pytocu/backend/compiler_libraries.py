"""Which build of a compiler is installed."""

from __future__ import annotations

import os


def file_size(name: str) -> int:
    """Bytes of a library's file, which tells builds of one version apart; 0 where it has no file.

    Parameters
    ----------
    name : str
        As ``cuda.pathfinder`` calls it; the library is loaded if it was not.

    Raises
    ------
    ImportError, RuntimeError
        The package or the library is missing.
    """
    from cuda.pathfinder import load_nvidia_dynamic_lib  # pyright: ignore[reportAttributeAccessIssue]

    path = load_nvidia_dynamic_lib(name).abs_path
    return os.path.getsize(path) if path and os.path.isfile(path) else 0
