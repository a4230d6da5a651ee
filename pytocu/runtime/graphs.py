"""Temporaries of calls that are captured into a graph: they stay as long as the graph.

A replay writes to the addresses that the captured call used.  The caller keeps the results, as
with every library; temporaries nobody else knows of, so the graph itself is given a reference.
(What PyTorch allocates while it captures lies in memory of the graph anyway.)
"""

from __future__ import annotations

import ctypes
from collections import deque
from itertools import count
from typing import Any

from pytocu.runtime import cuda

_kept: dict[int, Any] = {}
_done: deque[int] = deque()
_numbers = count(1)


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _forget(number: int) -> None:
    # CUDA calls this in a thread of its own, where freeing memory is forbidden.
    _done.append(number)


def keep_for_replays(stream: int, temporaries: tuple[Any, ...]) -> None:
    """Keep arrays while the graph lives that the stream is captured into; nothing when it is not captured.

    Parameters
    ----------
    stream : int
        On which kernels that use the arrays have been launched.
    temporaries : tuple
        Arrays of any library.
    """
    if cuda.capture_of(stream) <= 0:
        return
    while _done:
        _kept.pop(_done.popleft(), None)
    driver = cuda.bindings()
    graph = cuda.call("cuStreamGetCaptureInfo", stream)[2]
    number = next(_numbers)
    _kept[number] = temporaries
    destroy = ctypes.cast(_forget, ctypes.c_void_p).value
    no_waiting = driver.CUuserObject_flags.CU_USER_OBJECT_NO_DESTRUCTOR_SYNC
    made = cuda.call("cuUserObjectCreate", number, destroy, 1, int(no_waiting))
    move = driver.CUuserObjectRetain_flags.CU_GRAPH_USER_OBJECT_MOVE
    cuda.call("cuGraphRetainUserObject", graph, made, 1, int(move))
