"""Numbers that data decide are exceptions on a GPU too, whether anything reads them or not."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_control_flow_gpu import on_host, same
from test_loop_errors import NUMBERS, UNREAD

import pytocu

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("backend", ["cuda_c", "nvvm"])
@pytest.mark.parametrize("function", UNREAD)
def test_what_a_number_that_nobody_uses_is_made_of_is_there(function: Callable[..., Any], backend: str, cupy: Any) -> None:
    compiled = pytocu.jit(function, backend=backend)
    for y, count in NUMBERS:
        try:
            wanted = function(np.array(y), count)
        except (ValueError, ZeroDivisionError) as error:
            with pytest.raises(type(error), match=re.escape(str(error))):
                compiled(cupy.array(y), count)
                pytocu.synchronize()
        else:
            same(on_host(cupy, compiled(cupy.array(y), count)), wanted, False)
            pytocu.synchronize()
